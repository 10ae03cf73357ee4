// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/opcode_facts.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::ptx {
namespace {

OpcodeFacts facts(std::string_view opcode, std::vector<std::string_view> modifiers = {}) {
  return factsOf(opcode, modifiers);
}

TEST(PtxOpcodeFacts, TellsWhereControlGoesOn) {
  EXPECT_EQ(facts("bra", {"uni"}).control, Control::Branch);
  EXPECT_EQ(facts("brx", {"idx"}).control, Control::TableBranch);
  for (const char *opcode : {"ret", "exit", "trap"})
    EXPECT_EQ(facts(opcode).control, Control::Exit) << opcode;
  EXPECT_EQ(facts("call", {"uni"}).control, Control::Call);
  for (const char *opcode : {"add", "brkpt", "", "retx"})
    EXPECT_EQ(facts(opcode).control, Control::Next) << opcode;
}

TEST(PtxOpcodeFacts, TellsWhatOperandZeroIs) {
  for (const char *opcode : {"bra", "brx", "exit", "nanosleep", "pmevent", "ret", "setmaxnreg", "stackrestore", "bar"})
    EXPECT_EQ(facts(opcode).first, FirstOperand::Source) << opcode;
  EXPECT_EQ(facts("bar", {"red", "popc", "u32"}).first, FirstOperand::Result);
  EXPECT_EQ(facts("barrier", {"cta", "red", "and", "pred"}).first, FirstOperand::Result);
  EXPECT_EQ(facts("tcgen05", {"ld"}).first, FirstOperand::Result);
  EXPECT_EQ(facts("tcgen05", {"st"}).first, FirstOperand::Source);
  EXPECT_EQ(facts("call").first, FirstOperand::ResultList);
  EXPECT_EQ(facts("unheard", {"of"}).first, FirstOperand::Result);
}

} // namespace
} // namespace tenon::ptx
