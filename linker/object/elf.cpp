// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every offset and size of the file is checked before it is followed; memory taken is in proportion to the file's size,
// since a table that lies inside of it cannot have more rows than it has bytes.
#include "linker/object/elf.h"

#include "linker/object/byte_reader.h"

#include <algorithm>

namespace tenon::linker {
namespace {

constexpr uint64_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24;
constexpr uint32_t kTypeSymbols = 2;
constexpr uint16_t kIndexElsewhere = 0xffff; // SHN_XINDEX

Status damaged(std::string_view what) {
  return makeError(StatusCode::DataLoss, "the ELF file is damaged: ", what);
}

Status readSections(std::string_view bytes, ElfFile &file) {
  const uint64_t offset = numberAt<uint64_t>(bytes, 40);
  uint64_t count = numberAt<uint16_t>(bytes, 60);
  uint32_t nameIndex = numberAt<uint16_t>(bytes, 62);
  if (offset == 0)
    return okStatus(); // no section table
  if (numberAt<uint16_t>(bytes, 58) != kSectionBytes)
    return damaged("its section headers have another size");
  // With more than 65279 sections, the first header holds the numbers.
  if (std::optional<std::string_view> first = bytesAt(bytes, offset, kSectionBytes)) {
    if (count == 0)
      count = numberAt<uint64_t>(*first, 32);
    if (nameIndex == kIndexElsewhere)
      nameIndex = numberAt<uint32_t>(*first, 40);
  }
  if (count > bytes.size() / kSectionBytes)
    return damaged("its section headers end outside");
  std::optional<std::string_view> table = bytesAt(bytes, offset, count * kSectionBytes);
  if (!table)
    return damaged("its section headers end outside");

  std::vector<uint32_t> names;
  for (; !table->empty(); table->remove_prefix(kSectionBytes)) {
    ElfSection section;
    names.push_back(numberAt<uint32_t>(*table, 0));
    section.type = numberAt<uint32_t>(*table, 4);
    section.size = numberAt<uint64_t>(*table, 32);
    section.link = numberAt<uint32_t>(*table, 40);
    section.info = numberAt<uint32_t>(*table, 44);
    section.alignment = numberAt<uint64_t>(*table, 48);
    if (section.type != kElfSectionNoBits && section.type != 0) {
      std::optional<std::string_view> contents = bytesAt(bytes, numberAt<uint64_t>(*table, 24), section.size);
      if (!contents)
        return damaged(concat("section ", file.sections.size(), " ends outside"));
      section.bytes = *contents;
    }
    file.sections.push_back(section);
  }
  if (nameIndex >= file.sections.size())
    return file.sections.empty() ? okStatus() : damaged("it has no section names");
  for (size_t i = 0; i < names.size(); ++i)
    file.sections[i].name = stringAt(file.sections[nameIndex].bytes, names[i]);
  return okStatus();
}

Status readSymbols(ElfFile &file) {
  auto found = std::find_if(file.sections.begin(), file.sections.end(),
                            [](const ElfSection &section) { return section.type == kTypeSymbols; });
  if (found == file.sections.end())
    return okStatus();
  if (found->link >= file.sections.size())
    return damaged("its symbols have no names");
  const std::string_view names = file.sections[found->link].bytes;
  for (std::string_view row = found->bytes; row.size() >= kSymbolBytes; row.remove_prefix(kSymbolBytes)) {
    const uint8_t info = numberAt<uint8_t>(row, 4);
    file.symbols.push_back({.name = stringAt(names, numberAt<uint32_t>(row, 0)),
                            .type = uint8_t(info & 15),
                            .binding = uint8_t(info >> 4),
                            .other = numberAt<uint8_t>(row, 5),
                            .section = numberAt<uint16_t>(row, 6),
                            .value = numberAt<uint64_t>(row, 8),
                            .size = numberAt<uint64_t>(row, 16)});
  }
  return okStatus();
}

} // namespace

const ElfSection *ElfFile::findSection(std::string_view name) const {
  auto found =
      std::find_if(sections.begin(), sections.end(), [&](const ElfSection &section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

Result<ElfFile> readElf(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("\x7f"
                                                        "ELF"))
    return damaged("it is shorter than its header");
  if (bytes[4] != 2 || bytes[5] != 1)
    return makeError(StatusCode::Unimplemented, "the ELF file is not 64-bit little endian");
  ElfFile file;
  file.abiVersion = numberAt<uint8_t>(bytes, 8);
  file.machine = numberAt<uint16_t>(bytes, 18);
  file.flags = numberAt<uint32_t>(bytes, 48);
  TENON_RETURN_IF_ERROR(readSections(bytes, file));
  TENON_RETURN_IF_ERROR(readSymbols(file));
  return file;
}

} // namespace tenon::linker
