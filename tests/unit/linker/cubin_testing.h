// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cubins in a few lines: an ELF file with just the sections that a reader looks at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker::testing {

template <typename T> std::string little(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

struct TestSection {
  std::string name;
  uint32_t type = 1;
  std::string bytes;
  uint64_t noBits = 0; // size of a section without bytes
  uint32_t link = 0;
};

/// An ELF file. Sections are numbered from 1 in the order given; the last one, of names, is added.
inline std::string makeElf(uint16_t machine, uint8_t abiVersion, uint32_t flags, std::vector<TestSection> sections) {
  std::string names(1, '\0'), bodies, table(64, '\0');
  sections.push_back({.name = ".shstrtab", .type = 3, .bytes = ""});
  for (TestSection &section : sections) {
    const uint32_t name = uint32_t(names.size());
    names += section.name + '\0';
    if (&section == &sections.back())
      section.bytes = names;
    table += little(name) + little(section.type) + little(uint64_t(0)) + little(uint64_t(0)) +
             little(uint64_t(64 + bodies.size())) +
             little(uint64_t(section.noBits ? section.noBits : section.bytes.size())) + little(section.link) +
             little(uint32_t(0)) + little(uint64_t(1)) + little(uint64_t(0));
    bodies += section.bytes;
  }
  const uint64_t tableAt = 64 + bodies.size();
  std::string header("\x7f"
                     "ELF\x02\x01\x01\x41",
                     8);
  header += char(abiVersion);
  header.resize(16);
  header += little(uint16_t(2)) + little(machine) + little(uint32_t(1)) + little(uint64_t(0)) + little(uint64_t(0)) +
            little(tableAt) + little(flags) + little(uint16_t(64)) + little(uint16_t(0)) + little(uint16_t(0)) +
            little(uint16_t(64)) + little(uint16_t(sections.size() + 1)) + little(uint16_t(sections.size()));
  return header + bodies + table;
}

struct TestParameter {
  uint16_t offset = 0;
  uint32_t size = 8;
};

/// A cubin with one kernel, as ptxas 13 writes it.
inline std::string makeCubin(std::string_view name, std::vector<TestParameter> parameters, uint8_t arch = 80,
                             uint64_t sharedBytes = 0, uint8_t binding = 1, uint8_t other = 0x10) {
  std::string info;
  uint16_t end = 0;
  for (size_t i = parameters.size(); i-- > 0;) {
    const auto [offset, size] = parameters[i];
    end = std::max<uint16_t>(end, uint16_t(offset + size));
    info += "\x04\x17" + little(uint16_t(12)) + little(uint32_t(0)) + little(uint16_t(i)) + little(offset) +
            little(uint32_t(size << 18));
  }
  info += "\x03\x19" + little(end);
  info += "\x04\x10" + little(uint16_t(12)) + little(uint32_t(64)) + little(uint32_t(1)) + little(uint32_t(1));
  const std::string kernel(name);
  std::vector<TestSection> sections = {
      {.name = ".strtab", .type = 3, .bytes = '\0' + kernel + '\0'},
      {.name = ".symtab",
       .type = 2,
       .bytes = std::string(24, '\0') + little(uint32_t(1)) + char(binding << 4 | 2) + char(other) +
                little(uint16_t(4)) + little(uint64_t(0)) + little(uint64_t(0)),
       .link = 1},
      {.name = ".nv.info",
       .bytes = "\x04\x2f" + little(uint16_t(8)) + little(uint32_t(1)) + little(uint32_t(14)) + "\x04\x11" +
                little(uint16_t(8)) + little(uint32_t(1)) + little(uint32_t(48))},
      {.name = ".text." + kernel, .bytes = "code"},
      {.name = ".nv.info." + kernel, .bytes = info}};
  if (sharedBytes)
    sections.push_back({.name = ".nv.shared." + kernel, .type = 8, .noBits = sharedBytes});
  return makeElf(190, 8, uint32_t(arch) << 8 | 0x6000004, sections);
}

} // namespace tenon::linker::testing
