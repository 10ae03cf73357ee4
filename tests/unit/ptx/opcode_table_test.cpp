// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/opcode_table.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {

TEST(PtxOpcodeTable, FindsEachOfItsRows) {
  EXPECT_GT(allOpcodes().size(), 100u);
  for (const OpcodeRow &row : allOpcodes())
    EXPECT_EQ(findOpcode(row.opcode), &row) << row.opcode;
}

TEST(PtxOpcodeTable, KnowsNothingElse) {
  for (const char *opcode : {"", "a", "adds", "zz", "ld.global", "LD", "{", "\x7f"})
    EXPECT_EQ(findOpcode(opcode), nullptr) << opcode;
}

TEST(PtxOpcodeTable, SaysWhatTouchesMemory) {
  EXPECT_EQ(findOpcode("ld")->effect, Effect::Load);
  EXPECT_EQ(findOpcode("st")->effect, Effect::Store);
  EXPECT_EQ(findOpcode("atom")->effect, Effect::Atomic);
  EXPECT_EQ(findOpcode("cp")->rule, EffectRule::AsyncCopy);
  EXPECT_EQ(findOpcode("fma")->effect, Effect::Blend);
}

} // namespace
} // namespace tenon::ptx
