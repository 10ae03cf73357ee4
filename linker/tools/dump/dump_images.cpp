// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/dump/dump_images.h"

#include "abi/format/layout_table.h"
#include "linker/assembler/find_program.h"
#include "linker/assembler/subprocess.h"
#include "linker/object/elf.h"
#include "ptx/parse/parser.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <set>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

std::string_view kindName(abi::ImageKind kind) {
  return kind == abi::ImageKind::Ptx ? "PTX" : "cubin";
}

struct Image {
  const abi::ExecutableView *executable = nullptr;
  uint32_t index = 0;
  abi::ImageKind kind = abi::ImageKind::Ptx;
  uint64_t bytes = 0;
  std::string target, variant;
  bool isGenerated = false;

  /// "image 2 of 'kernels': sm_80, cubin, variant 'sm_80'".
  std::string title() const {
    return concat("image ", index, " of '", executable->name(), "': ", target, ", ", kindName(kind), ", variant '",
                  variant, "'");
  }
  Result<std::string> contents() const {
    TENON_ASSIGN_OR_RETURN(const std::vector<uint8_t> data, executable->imageBytes(index));
    return std::string(data.begin(), data.end());
  }
};

std::vector<Image> imagesOf(std::span<const abi::ExecutableView> executables) {
  std::vector<Image> images;
  for (const abi::ExecutableView &executable : executables) {
    std::set<uint32_t> seen;
    for (const fb::Variant *variant : *executable.raw().variants())
      for (uint32_t index : *variant->images()) {
        if (!seen.insert(index).second)
          continue;
        const fb::Image &image = *executable.raw().images()->Get(index);
        images.push_back({.executable = &executable,
                          .index = index,
                          .kind = image.kind() == fb::ImageKind::Ptx ? abi::ImageKind::Ptx : abi::ImageKind::Cubin,
                          .bytes = image.size(),
                          .target = abi::archFromStruct(*variant->arch()).toString(),
                          .variant = variant->name()->str(),
                          .isGenerated = variant->origin() == fb::Origin::Generated});
      }
  }
  return images;
}

Status noneOf(abi::ImageKind kind) {
  return makeError(StatusCode::NotFound, "there is no ", kindName(kind),
                   kind == abi::ImageKind::Cubin ? ": link with --images=cubin+ptx, and a ptxas" : "");
}

Result<std::string> disassemble(const std::string &nvdisasm, const std::string &cubin) {
  TENON_ASSIGN_OR_RETURN(const MemoryFile file, MemoryFile::create("tenon-cubin", cubin));
  const MemoryFile *files[] = {&file};
  TENON_ASSIGN_OR_RETURN(ProcessResult process, runProcess({nvdisasm, "-c", childPath(0)}, files));
  if (process.exitStatus != 0)
    return makeError(StatusCode::FailedPrecondition, "'", nvdisasm, "' ended with status ", process.exitStatus, ": ",
                     process.output);
  return std::move(process.output);
}

std::string row(std::string_view binding, std::string_view kind, uint64_t bytes, std::string_view name) {
  std::string text = concat("  ", binding);
  text.resize(10, ' ');
  text += kind;
  text.resize(20, ' ');
  std::string size = bytes ? std::to_string(bytes) : "-";
  size.insert(0, size.size() < 8 ? 8 - size.size() : 0, ' ');
  return concat(text, size, "  ", name, "\n");
}

Result<std::string> symbolsOfPtx(const Image &image, std::string text) {
  Diagnostics diagnostics;
  const ptx::Module module =
      ptx::parse(std::make_shared<SourceFile>(image.title(), FileBytes(std::move(text))), diagnostics);
  if (diagnostics.hasErrors())
    return makeError(StatusCode::DataLoss, diagnostics.toString());
  std::string out;
  for (const ptx::Function &function : module.functions)
    out += row(function.isExtern    ? "extern"
               : function.isWeak    ? "weak"
               : function.isVisible ? "global"
                                    : "local",
               function.isEntry ? "entry" : "function", 0, function.name);
  for (const ptx::Variable &variable : module.variables)
    out += row(variable.isExtern    ? "extern"
               : variable.isWeak    ? "weak"
               : variable.isVisible ? "global"
                                    : "local",
               "variable", variable.bytes(), variable.name);
  return out;
}

Result<std::string> symbolsOfCubin(const std::string &bytes) {
  constexpr uint8_t kObject = 1, kFunction = 2, kEntryMark = 0x10; // STT_OBJECT, STT_FUNC, STO_CUDA_ENTRY
  TENON_ASSIGN_OR_RETURN(const ElfFile file, readElf(bytes));
  std::string out;
  for (const ElfSymbol &symbol : file.symbols) {
    if (symbol.name.empty() || (symbol.type != kObject && symbol.type != kFunction))
      continue;
    const std::string_view binding = symbol.section == 0   ? "extern"
                                     : symbol.binding == 0 ? "local"
                                     : symbol.binding == 2 ? "weak"
                                                           : "global";
    const std::string_view kind = symbol.type == kObject        ? "variable"
                                  : (symbol.other & kEntryMark) ? "entry"
                                                                : "function";
    out += row(binding, kind, symbol.size, symbol.name);
  }
  return out;
}

} // namespace

std::string listImages(std::span<const abi::ExecutableView> executables) {
  std::string out;
  for (const Image &image : imagesOf(executables))
    out += concat(image.title(), image.isGenerated ? ", generated" : "", ", ", image.bytes, " bytes\n");
  return out;
}

Result<std::string> findImage(std::span<const abi::ExecutableView> executables, std::string_view what,
                              abi::ImageKind kind) {
  if (what.empty()) {
    std::vector<Image> images = imagesOf(executables);
    std::erase_if(images, [kind](const Image &image) { return image.kind != kind; });
    if (images.empty())
      return noneOf(kind);
    if (images.size() == 1)
      return images.front().contents();
    std::string list;
    for (const Image &image : images)
      list += concat("\n  ", image.title());
    return makeError(StatusCode::InvalidArgument, "there are ", images.size(), " ", kindName(kind),
                     " images: say whose, as EXPORT or EXPORT@TARGET", list);
  }
  const size_t at = what.find('@');
  const std::string_view name = what.substr(0, at);
  const std::string_view target = at == std::string_view::npos ? std::string_view() : what.substr(at + 1);
  std::vector<std::string> known, targets;
  for (const abi::ExecutableView &executable : executables)
    for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
      known.push_back(executable.exportAt(ordinal).name);
      if (known.back() != name)
        continue;
      for (const abi::Candidate &candidate : executable.candidates(ordinal)) {
        if (candidate.kind != kind)
          continue;
        targets.push_back(candidate.arch.toString());
        if (!target.empty() && target != targets.back() && target != candidate.variantName)
          continue;
        TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, executable.imageBytes(candidate.imageIndex));
        return std::string(bytes.begin(), bytes.end());
      }
    }
  if (!targets.empty())
    return makeError(StatusCode::NotFound, "export '", name, "' has no ", kindName(kind), " for '", target,
                     "'; it has ", quotedList(targets));
  return makeError(StatusCode::NotFound, "no ", kindName(kind), " for an export '", name, "'; the exports are ",
                   quotedList(known));
}

Result<std::string> allPtx(std::span<const abi::ExecutableView> executables) {
  std::string out;
  for (const Image &image : imagesOf(executables)) {
    if (image.kind != abi::ImageKind::Ptx)
      continue;
    TENON_ASSIGN_OR_RETURN(const std::string text, image.contents());
    out += concat("// ", image.title(), "\n", text);
  }
  return out.empty() ? noneOf(abi::ImageKind::Ptx) : Result<std::string>(std::move(out));
}

Result<std::string> machineCode(std::span<const abi::ExecutableView> executables, std::string_view what) {
  TENON_ASSIGN_OR_RETURN(const std::string nvdisasm, findCudaProgram("nvdisasm", ""));
  if (!what.empty()) {
    TENON_ASSIGN_OR_RETURN(const std::string cubin, findImage(executables, what, abi::ImageKind::Cubin));
    return disassemble(nvdisasm, cubin);
  }
  std::string out;
  for (const Image &image : imagesOf(executables)) {
    if (image.kind != abi::ImageKind::Cubin)
      continue;
    TENON_ASSIGN_OR_RETURN(const std::string cubin, image.contents());
    TENON_ASSIGN_OR_RETURN(const std::string code, disassemble(nvdisasm, cubin));
    out += concat("// ", image.title(), "\n", code);
  }
  return out.empty() ? noneOf(abi::ImageKind::Cubin) : Result<std::string>(std::move(out));
}

Result<std::string> listSymbols(std::span<const abi::ExecutableView> executables) {
  std::string out;
  for (const Image &image : imagesOf(executables)) {
    TENON_ASSIGN_OR_RETURN(std::string contents, image.contents());
    Result<std::string> symbols =
        image.kind == abi::ImageKind::Cubin ? symbolsOfCubin(contents) : symbolsOfPtx(image, std::move(contents));
    if (!symbols.ok())
      return symbols.takeStatus().withContext(image.title());
    out += concat(image.title(), "\n", *symbols);
  }
  return out;
}

} // namespace tenon::linker
