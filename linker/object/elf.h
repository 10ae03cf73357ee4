// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ELF file, as far as a linker of kernels needs it: cubins are ELF, and so are the host objects that carry fatbins.
// 64 bits, little endian. Source: System V ABI, "Object Files".
#pragma once

#include "support/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::linker {

inline constexpr uint16_t kElfMachineCuda = 190;
inline constexpr uint32_t kElfSectionNoBits = 8;

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint32_t link = 0, info = 0;
  uint64_t size = 0;
  uint64_t alignment = 0;
  std::string_view bytes; // [size]; empty for NOBITS
};

struct ElfSymbol {
  std::string_view name;
  uint8_t type = 0;    // 2: function
  uint8_t binding = 0; // 0: local, 1: global, 2: weak
  uint8_t other = 0;   // st_other; visibility is its low two bits, the rest are the processor's
  uint16_t section = 0;
  uint64_t value = 0, size = 0;
};

struct ElfFile {
  uint16_t machine = 0;
  uint8_t abiVersion = 0;
  uint32_t flags = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols; // of the first symbol table

  const ElfSection *findSection(std::string_view name) const;
};

/// Reads the tables of an ELF file; `bytes` is borrowed. DataLoss: it is cut short or points outside of itself.
/// Unimplemented: 32 bits or big endian.
Result<ElfFile> readElf(std::string_view bytes);

} // namespace tenon::linker
