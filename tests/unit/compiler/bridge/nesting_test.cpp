// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/nesting.h"

#include "support/status.h"

#include <gtest/gtest.h>

namespace tenon::compiler::bridge {
namespace {

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

/// "offset: message", or "fine".
std::string mistakeOf(std::string_view text) {
  const auto mistake = findNestingMistake(text);
  return mistake ? concat(mistake->offset, ": ", mistake->message) : "fine";
}

TEST(Nesting, CountsBracketsOfEveryKind) {
  for (std::string_view bracket : {"(", "[", "{", "<"}) {
    EXPECT_EQ(mistakeOf(repeated(bracket, 256)), "fine");
    EXPECT_EQ(mistakeOf(repeated(bracket, 257)), "256: this nests more than 256 deep");
  }
  EXPECT_EQ(mistakeOf(repeated("module { ", 5000)), "2311: this nests more than 256 deep");
}

TEST(Nesting, WhatIsOneBehindTheOtherIsNotNested) {
  EXPECT_EQ(mistakeOf(repeated("module { }\n", 5000)), "fine");
  EXPECT_EQ(mistakeOf(repeated("func.func private @f() -> tensor<4xf32>\n", 5000)), "fine");
  EXPECT_EQ(mistakeOf("#s = affine_set<(d0) : (" + repeated("d0 - 1 >= 0, d0 <= 5, ", 5000) + "d0 >= 0)>"), "fine");
}

TEST(Nesting, SkipsStringsAndComments) {
  EXPECT_EQ(mistakeOf("a = \"" + repeated("[", 1000) + "\\\"[[\""), "fine");
  EXPECT_EQ(mistakeOf("// " + repeated("[", 1000) + "\n"), "fine");
  EXPECT_EQ(mistakeOf("\"never ends"), "fine"); // the parser's to report
}

TEST(Nesting, ABracketClosesTheOnesThatWereNone) {
  EXPECT_EQ(mistakeOf(repeated("(a < b)", 1000)), "fine");
}

TEST(Nesting, AliasesNestAsWhatTheyStandFor) {
  const auto chain = [](size_t links, std::string_view open, std::string_view close) {
    std::string text = "#a0 = 1 : i32\n";
    for (size_t i = 1; i <= links; ++i)
      text += concat("#a", i, " = ", open, "#a", i - 1, close, "\n");
    return text;
  };
  EXPECT_EQ(mistakeOf(chain(100, "[", "]")), "fine");
  EXPECT_NE(mistakeOf(chain(200, "[", "]")).find("this nests more than 256 deep"), std::string::npos);
  EXPECT_NE(mistakeOf(chain(200, "{a = ", "}")).find("this nests more than 256 deep"), std::string::npos);
  EXPECT_NE(mistakeOf(chain(200, "\n[", "]")).find("this nests more than 256 deep"), std::string::npos);
  EXPECT_NE(mistakeOf(chain(40, "[#a0, ", "]") + repeated("[", 200) + "#a40").find("this nests more than 256 deep"),
            std::string::npos);
}

TEST(Nesting, AliasesThatDoubleAreRefused) {
  std::string text = "#a0 = 1\n";
  for (size_t i = 1; i <= 30; ++i)
    text += concat("#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  EXPECT_NE(mistakeOf(text).find("with its aliases written out this has more than 16777216 words"), std::string::npos);
}

TEST(Nesting, AUseBehindADefinitionIsNotPartOfIt) {
  EXPECT_EQ(mistakeOf("!t = tensor<4xf32>\n" + repeated("func.func private @g(!t)\n", 1000)), "fine");
  EXPECT_EQ(mistakeOf("#m = affine_map<(d0) -> (d0)>\nmodule {\n" + repeated("a = #m,\n", 1000) + "}"), "fine");
}

TEST(Nesting, CountsTheOperatorsOfAnExpression) {
  EXPECT_EQ(mistakeOf("#m = affine_map<(d0) -> (d0" + repeated(" + 1", 2000) + ")>"), "fine");
  EXPECT_NE(mistakeOf("#m = affine_map<(d0) -> (d0" + repeated(" + 1", 3000) + ")>").find("more than 2048 operators"),
            std::string::npos);
  EXPECT_NE(mistakeOf("#m = affine_map<(d0) -> (" + repeated("- ", 3000) + "d0)>").find("more than 2048 operators"),
            std::string::npos);
  EXPECT_NE(mistakeOf("#m = affine_map<(d0) -> (d0" + repeated(" mod 2", 3000) + ")>").find("more than 2048 operators"),
            std::string::npos);
  EXPECT_EQ(mistakeOf("dense<[" + repeated("-1, ", 10000) + "-1]>"), "fine");
}

TEST(Nesting, EachPartOfASplitFileIsATextOfItsOwn) {
  EXPECT_EQ(mistakeOf(repeated("module {\n// -----\n", 1000)), "fine");
}

TEST(Nesting, RefusesBytecodeByName) {
  EXPECT_EQ(mistakeOf("ML\xefR\x06"), "0: this is MLIR bytecode, which is not read; write the module as text");
}

} // namespace
} // namespace tenon::compiler::bridge
