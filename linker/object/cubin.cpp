// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attribute is a byte of format, a byte of kind, and 16 bits: the value itself, or (format 4) the size of the value
// that follows. Kinds that are not known are passed over.
//
//   0x05 max threads [3]    0x10 required threads [3]    0x19 bytes of all parameters    0x2f {symbol, registers}
//   0x0a {symbol:32, where parameters begin in the constant bank:16, bytes of all:16}
//   0x11 {symbol, bytes of its stack frame}
//   0x17 {index, ordinal:16, offset:16, flags:18 size:14}      0x45 {index, ordinal:16, offset:16, size:16 flags:16}
//
// Which names can be launched is a mark on their symbols. `.visible` or not is the symbol's binding, and no matter
// here.
#include "linker/object/cubin.h"

#include "linker/object/byte_reader.h"
#include "linker/object/elf.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tenon::linker {
namespace {

constexpr std::string_view kText = ".text.", kInfo = ".nv.info", kShared = ".nv.shared.";
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kAbiVersionBlackwell = 8; // since CUDA 13, where the architecture moved in e_flags
constexpr uint16_t kTypeRelocatable = 1;
constexpr uint8_t kOtherEntry = 0x10; // in a symbol's st_other (STO_CUDA_ENTRY)
constexpr size_t kParameterBytes = 12;

enum Attribute : uint8_t {
  MaxThreads = 0x05,
  ParameterBank = 0x0a,
  RequiredThreads = 0x10,
  FrameBytes = 0x11,
  Parameter = 0x17,
  ParameterBytes = 0x19,
  Registers = 0x2f,
  WideParameter = 0x45,
};

/// Calls `visit(kind, value)` for each attribute of a section; the value is the sized bytes or the two of the head.
Status forEachAttribute(std::string_view bytes, const std::function<void(uint8_t, std::string_view)> &visit) {
  while (!bytes.empty()) {
    if (bytes.size() < 4)
      return makeError(StatusCode::DataLoss, "the cubin is damaged: an attribute is cut short");
    const uint8_t format = numberAt<uint8_t>(bytes, 0), kind = numberAt<uint8_t>(bytes, 1);
    const uint64_t size = format == kFormatSized ? numberAt<uint16_t>(bytes, 2) : 0;
    std::optional<std::string_view> value = format == kFormatSized ? bytesAt(bytes, 4, size) : bytesAt(bytes, 2, 2);
    if (!value)
      return makeError(StatusCode::DataLoss, "the cubin is damaged: an attribute is cut short");
    visit(kind, *value);
    bytes.remove_prefix(4 + size);
  }
  return okStatus();
}

std::array<uint32_t, 3> extentOf(std::string_view value) {
  return {numberAt<uint32_t>(value, 0), numberAt<uint32_t>(value, 4), numberAt<uint32_t>(value, 8)};
}

void addParameter(CubinKernel &kernel, std::string_view value, bool wide, size_t most) {
  const size_t ordinal = numberAt<uint16_t>(value, 4);
  if (value.size() < kParameterBytes || ordinal >= most)
    return;
  if (ordinal >= kernel.parameters.size())
    kernel.parameters.resize(ordinal + 1);
  const uint32_t last = numberAt<uint32_t>(value, 8);
  kernel.parameters[ordinal] = {
      .offset = numberAt<uint16_t>(value, 6), .size = wide ? last & 0xffff : last >> 18, .known = true};
}

/// From sm_90 on, the section begins with what the system keeps for itself, which is not the kernel's.
uint32_t sharedBytesOf(const ElfSection &section, uint16_t archNumber) {
  const uint64_t reserved = archNumber >= 90 ? 1024 : 0;
  return uint32_t(std::min<uint64_t>(section.size < reserved ? 0 : section.size - reserved, UINT32_MAX));
}

Status readKernelInfo(const ElfSection &section, CubinKernel &kernel) {
  const size_t most = section.bytes.size() / kParameterBytes; // each has an attribute of its own
  return forEachAttribute(section.bytes, [&](uint8_t kind, std::string_view value) {
    switch (kind) {
    case Attribute::MaxThreads:
      kernel.maxThreads = extentOf(value);
      break;
    case Attribute::RequiredThreads:
      kernel.requiredThreads = extentOf(value);
      break;
    case Attribute::Parameter:
    case Attribute::WideParameter:
      addParameter(kernel, value, kind == Attribute::WideParameter, most);
      break;
    case Attribute::ParameterBank:
      kernel.parameterBase = numberAt<uint16_t>(value, 4);
      break;
    case Attribute::ParameterBytes:
      kernel.parameterBytes = numberAt<uint16_t>(value, 0);
      break;
    }
  });
}

/// Registers and stack frames stand in the section of the whole file, by symbol.
Status readResources(const ElfFile &file, Cubin &cubin) {
  const ElfSection *section = file.findSection(kInfo);
  if (!section)
    return okStatus();
  std::map<std::string_view, CubinKernel *> kernels;
  for (CubinKernel &kernel : cubin.kernels)
    kernels.try_emplace(kernel.name, &kernel);
  return forEachAttribute(section->bytes, [&](uint8_t kind, std::string_view value) {
    const uint32_t index = numberAt<uint32_t>(value, 0);
    if ((kind != Attribute::Registers && kind != Attribute::FrameBytes) || index >= file.symbols.size())
      return;
    if (auto kernel = kernels.find(file.symbols[index].name); kernel != kernels.end())
      (kind == Attribute::Registers ? kernel->second->registers : kernel->second->stackBytes) =
          numberAt<uint32_t>(value, 4);
  });
}

} // namespace

const CubinKernel *Cubin::findKernel(std::string_view name) const {
  auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel &kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<Cubin> readCubin(std::string_view bytes) {
  TENON_ASSIGN_OR_RETURN(ElfFile file, readElf(bytes));
  if (file.machine != kElfMachineCuda)
    return makeError(StatusCode::Unimplemented, "the ELF file is not for CUDA");
  if (numberAt<uint16_t>(bytes, 16) == kTypeRelocatable)
    return makeError(StatusCode::Unimplemented, "the cubin must still be linked (nvcc -rdc=true)");
  Cubin cubin;
  cubin.archNumber = uint16_t(file.abiVersion >= kAbiVersionBlackwell ? file.flags >> 8 & 0xff : file.flags & 0xff);
  std::map<std::string_view, const ElfSection *> sections;
  for (const ElfSection &section : file.sections)
    sections.try_emplace(section.name, &section);
  std::set<std::string_view> entries;
  for (const ElfSymbol &symbol : file.symbols)
    if (symbol.other & kOtherEntry)
      entries.insert(symbol.name);
  for (const ElfSection &section : file.sections) {
    if (!section.name.starts_with(kText))
      continue;
    // A kernel is a section of code with attributes of its own; other functions have code only.
    CubinKernel kernel{.name = section.name.substr(kText.size())};
    auto info = sections.find(concat(kInfo, ".", kernel.name));
    if (info == sections.end())
      continue;
    kernel.isEntry = entries.contains(kernel.name);
    if (auto shared = sections.find(concat(kShared, kernel.name)); shared != sections.end())
      kernel.staticSharedBytes = sharedBytesOf(*shared->second, cubin.archNumber);
    TENON_RETURN_IF_ERROR(readKernelInfo(*info->second, kernel));
    cubin.kernels.push_back(std::move(kernel));
  }
  TENON_RETURN_IF_ERROR(readResources(file, cubin));
  return cubin;
}

} // namespace tenon::linker
