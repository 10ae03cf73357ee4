// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/families.h"

#include <algorithm>

namespace tenon::emulator {

namespace families {
#define TENON_FAMILY(name) Family name();
#include "emulator/decode/families.inc"
#undef TENON_FAMILY
} // namespace families

namespace {

/// A row with its name in two: "cp" and ".async.bulk".
struct Entry {
  std::string_view opcode, modifiers;
  Opcode row;
};

/// By opcode; of one opcode, longer names first.
std::vector<Entry> sortedEntries() {
  std::vector<Entry> entries;
  for (const Opcode &row : allOpcodes()) {
    size_t length = std::min(row.name.find('.'), row.name.size());
    entries.push_back({row.name.substr(0, length), row.name.substr(length), row});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.opcode != b.opcode ? a.opcode < b.opcode : a.modifiers.size() > b.modifiers.size();
  });
  return entries;
}

/// Whether the modifiers of `instruction` begin with `wanted`, ".async.bulk".
bool beginsWith(const ptx::Instruction &instruction, std::string_view wanted) {
  for (size_t k = 0; !wanted.empty(); ++k) {
    wanted.remove_prefix(1);
    std::string_view modifier = wanted.substr(0, wanted.find('.'));
    if (k >= instruction.modifiers.size() || instruction.modifiers[k] != modifier)
      return false;
    wanted.remove_prefix(modifier.size());
  }
  return true;
}

} // namespace

std::vector<Opcode> allOpcodes() {
  std::vector<Opcode> rows;
  auto add = [&](const Family &family) { rows.insert(rows.end(), family.rows, family.rows + family.count); };
#define TENON_FAMILY(name) add(families::name());
#include "emulator/decode/families.inc"
#undef TENON_FAMILY
  return rows;
}

const Opcode *findOpcode(const ptx::Instruction &instruction) {
  // Made when the first kernel is decoded, and never destroyed: programs load modules until they end.
  static const auto &entries = *new std::vector<Entry>(sortedEntries());
  std::string_view opcode = instruction.opcode;
  auto entry = std::lower_bound(entries.begin(), entries.end(), opcode,
                                [](const Entry &a, std::string_view b) { return a.opcode < b; });
  for (; entry != entries.end() && entry->opcode == opcode; ++entry)
    if (beginsWith(instruction, entry->modifiers))
      return &entry->row;
  return nullptr;
}

} // namespace tenon::emulator
