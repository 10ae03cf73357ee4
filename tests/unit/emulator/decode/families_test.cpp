// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of opcodes that the families make together.
#include "emulator/decode/families.h"

#include "ptx/opcode_table.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace tenon::emulator {
namespace {

/// The name of the row that decodes an instruction; empty: none.
std::string_view rowOf(std::string_view opcode, std::initializer_list<std::string_view> modifiers) {
  ptx::Instruction instruction;
  std::vector<std::string_view> list(modifiers);
  instruction.opcode = opcode;
  instruction.modifiers = ptx::List<std::string_view>(list.data(), list.size());
  const Opcode *found = findOpcode(instruction);
  return found ? found->name : std::string_view();
}

TEST(EmulatorFamilies, NameEveryOpcodeOnce) {
  std::set<std::string_view> names;
  for (const Opcode &row : allOpcodes()) {
    EXPECT_TRUE(row.decode) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is in two rows";
    EXPECT_LE(row.operands.least, row.operands.most) << row.name;
  }
}

TEST(EmulatorFamilies, TheLongestNameThatFitsDecides) {
  EXPECT_EQ(rowOf("cp", {"async", "bulk", "commit_group"}), "cp.async.bulk");
  EXPECT_EQ(rowOf("cp", {"async", "commit_group"}), "cp.async");
  EXPECT_EQ(rowOf("cp", {"async", "mbarrier", "arrive"}), "cp.async.mbarrier");
  EXPECT_EQ(rowOf("mov", {"b128"}), "mov.b128");
  EXPECT_EQ(rowOf("mov", {"b64"}), "mov");
  EXPECT_EQ(rowOf("mov", {}), "mov");
}

// A proof about memory knows an instruction by its row there; without one it gives up.
TEST(EmulatorFamilies, OpcodesHaveARowOfTheirEffects) {
  for (const Opcode &row : allOpcodes())
    EXPECT_TRUE(ptx::findOpcode(row.name.substr(0, row.name.find('.'))))
        << row.name << " has no row in ptx/opcode_table.cpp";
}

TEST(EmulatorFamilies, LeaveOutWhatNoneKnows) {
  EXPECT_EQ(rowOf("cp", {"bulk"}), "");
  EXPECT_EQ(rowOf("m", {}), "");
  EXPECT_EQ(rowOf("move", {}), "");
  EXPECT_EQ(rowOf("", {}), "");
}

} // namespace
} // namespace tenon::emulator
