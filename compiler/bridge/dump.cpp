// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/dump.h"

#include "compiler/bridge/objects.h"
#include "linker/assembler/subprocess.h"
#include "support/files/file.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace mlir;

namespace tenon::compiler::bridge {
namespace {

Status createFolder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return makeError(StatusCode::FailedPrecondition, "cannot create the folder '", folder, "': ", error.message());
  return okStatus();
}

Status writeIn(const std::string &folder, const std::string &name, std::string_view bytes) {
  return writeFile((std::filesystem::path(folder) / name).string(), bytes);
}

} // namespace

Status dumpSources(ModuleOp module, const std::string &folder) {
  TENON_RETURN_IF_ERROR(createFolder(folder));
  for (auto source : module.getOps<hal::ExecutableSourceOp>()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    source->print(stream);
    stream << "\n";
    TENON_RETURN_IF_ERROR(writeIn(folder, source.getSymName().str() + ".mlir", text));
  }
  return okStatus();
}

Status dumpKernels(ModuleOp module, const std::string &folder) {
  TENON_RETURN_IF_ERROR(createFolder(folder));
  for (auto source : module.getOps<hal::ExecutableSourceOp>()) {
    hal::ExecutableObjectsAttr objects = isGenerated(source) ? source.getObjectsAttr() : fallbackObjects(source);
    if (!objects)
      continue;
    for (Attribute list : objects.getTargetObjects())
      for (auto object : cast<ArrayAttr>(list).getAsRange<hal::ExecutableObjectAttr>()) {
        std::optional<std::string> bytes = inlineBytes(object);
        if (object.getPath() && bytes)
          TENON_RETURN_IF_ERROR(writeIn(folder, llvm::sys::path::filename(object.getPath().getValue()).str(), *bytes));
      }
  }
  return okStatus();
}

Status dumpBinaries(const LinkedModule &linked, const std::string &folder) {
  TENON_RETURN_IF_ERROR(createFolder(folder));
  for (auto [name, bytes] : llvm::zip_equal(linked.names, linked.executables))
    TENON_RETURN_IF_ERROR(
        writeIn(folder, name + ".tnx", std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size())));
  return okStatus();
}

static Result<abi::ExecutableView> viewOf(const LinkedModule &linked, size_t index) {
  return abi::ExecutableView::create(linked.executables[index], linked.names[index]);
}

Status dumpMaps(const LinkedModule &linked, const std::string &folder) {
  TENON_RETURN_IF_ERROR(createFolder(folder));
  for (size_t i = 0; i < linked.names.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(abi::ExecutableView executable, viewOf(linked, i));
    TENON_RETURN_IF_ERROR(writeIn(folder, linked.names[i] + ".map",
                                  linker::printLinkMap(linked.maps[i], executable, linked.executables[i].size())));
  }
  return okStatus();
}

/// What `nvdisasm` says about the cubin at `path`; its own message where it refuses.
static Result<std::string> disassemble(const std::string &nvdisasm, const std::string &path) {
  TENON_ASSIGN_OR_RETURN(linker::ProcessResult process, linker::runProcess({nvdisasm, "-c", path}, {}));
  return std::move(process.output);
}

Status dumpMachineCode(const LinkedModule &linked, const std::string &nvdisasm, const std::string &folder) {
  TENON_RETURN_IF_ERROR(createFolder(folder));
  for (size_t i = 0; i < linked.names.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(abi::ExecutableView executable, viewOf(linked, i));
    for (const abi::fb::Variant *variant : *executable.raw().variants())
      for (uint32_t index : *variant->images()) {
        if (executable.raw().images()->Get(index)->kind() != abi::fb::ImageKind::Cubin)
          continue;
        const std::string name = concat(linked.names[i], "_", variant->name()->string_view());
        TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, executable.imageBytes(index));
        TENON_RETURN_IF_ERROR(
            writeIn(folder, name + ".cubin", {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
        if (nvdisasm.empty())
          continue;
        const std::string path = (std::filesystem::absolute(folder) / (name + ".cubin")).string();
        TENON_ASSIGN_OR_RETURN(std::string code, disassemble(nvdisasm, path));
        TENON_RETURN_IF_ERROR(writeIn(folder, name + ".sass", code));
      }
  }
  return okStatus();
}

Status dumpPhase(ModuleOp module, size_t number, StringRef name, const std::string &folder) {
  constexpr int64_t kMostElements = 1024; // of a constant
  TENON_RETURN_IF_ERROR(createFolder(folder));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream,
                OpPrintingFlags().elideLargeElementsAttrs(kMostElements).elideLargeResourceString(kMostElements));
  stream << "\n";
  return writeIn(folder, (Twine(number < 10 ? "0" : "") + Twine(number) + "_" + name + ".mlir").str(), text);
}

} // namespace tenon::compiler::bridge
