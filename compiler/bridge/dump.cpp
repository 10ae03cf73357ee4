// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/dump.h"

#include "compiler/bridge/objects.h"
#include "support/file.h"

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

} // namespace tenon::compiler::bridge
