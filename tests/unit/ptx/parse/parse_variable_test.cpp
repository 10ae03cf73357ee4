// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

TEST(PtxVariable, ReadsRegisters) {
  Parsed parsed = parseBody(".reg .b32 %r<12>, %t, x; .reg .v4 .f32 %v; .reg .pred p<2+1>;");
  ASSERT_EQ(parsed.errors, "");
  const std::vector<Variable> &variables = parsed.module.functions[0].declarations;
  ASSERT_EQ(variables.size(), 5u);
  EXPECT_EQ(variables[0].space, StateSpace::Reg);
  EXPECT_EQ(variables[0].type, ScalarType::B32);
  EXPECT_EQ(variables[0].name, "%r");
  EXPECT_EQ(variables[0].registerCount, 12u);
  EXPECT_EQ(variables[1].name, "%t");
  EXPECT_EQ(variables[1].registerCount, 0u);
  EXPECT_EQ(variables[2].name, "x");
  EXPECT_EQ(variables[3].vectorWidth, 4u);
  EXPECT_EQ(variables[4].registerCount, 3u);
}

TEST(PtxVariable, ReadsArraysAndAlignment) {
  Parsed parsed = parseModule(".visible .global .align 8 .v2 .f32 a[4][2];\n"
                              ".extern .shared .align 16 .b8 d[];\n"
                              ".align 4 .const .b8 c[2*(3+1)];\n"
                              ".weak .global .u32 w; .common .global .u32 m; .tex .u64 t;\n"
                              ".global .attribute(.managed, .unified(19, 95)) .u32 u;\n");
  ASSERT_EQ(parsed.errors, "");
  const std::vector<Variable> &variables = parsed.module.variables;
  ASSERT_EQ(variables.size(), 7u);
  const Variable &a = variables[0];
  EXPECT_TRUE(a.isVisible);
  EXPECT_TRUE(a.isArray);
  EXPECT_EQ(a.alignment, 8u);
  EXPECT_EQ(a.bytes(), 64u);
  EXPECT_EQ(a.line, 4u);
  EXPECT_EQ(a.column, 36u);
  std::string_view text = parsed.module.source->text();
  EXPECT_EQ(text.substr(a.range.begin, a.range.end - a.range.begin), ".visible .global .align 8 .v2 .f32 a[4][2];");
  EXPECT_TRUE(variables[1].isExtern);
  EXPECT_EQ(variables[1].space, StateSpace::Shared);
  EXPECT_EQ(variables[1].dimensions, (std::vector<std::optional<uint64_t>>{std::nullopt}));
  EXPECT_EQ(variables[2].bytes(), 8u);
  EXPECT_TRUE(variables[3].isWeak);
  EXPECT_TRUE(variables[4].isCommon);
  EXPECT_EQ(variables[5].space, StateSpace::Tex);
  EXPECT_TRUE(variables[6].isManaged);
}

TEST(PtxVariable, ReadsPointersOfKernelParameters) {
  Parsed parsed = parseModule(".entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr b,\n"
                              "  .param .u64 .ptr .align 4 c, .param .align 64 .b8 map[128], .param .b32 n) { ret; }");
  ASSERT_EQ(parsed.errors, "");
  const std::vector<Variable> &parameters = parsed.module.functions[0].parameters;
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_TRUE(parameters[0].hasPtr);
  EXPECT_EQ(parameters[0].ptrSpace, StateSpace::Global);
  EXPECT_EQ(parameters[0].ptrAlignment, 16u);
  EXPECT_EQ(parameters[0].alignment, 0u);
  EXPECT_TRUE(parameters[1].hasPtr);
  EXPECT_EQ(parameters[1].ptrSpace, StateSpace::Generic);
  EXPECT_EQ(parameters[1].ptrAlignment, 0u);
  EXPECT_EQ(parameters[2].ptrAlignment, 4u);
  EXPECT_EQ(parameters[3].bytes(), 128u);
  EXPECT_EQ(parameters[3].effectiveAlignment(), 64u);
  EXPECT_FALSE(parameters[4].hasPtr);
  EXPECT_EQ(parameters[4].line, 5u);
}

TEST(PtxVariable, LimitsDimensions) {
  std::string extents;
  for (int i = 0; i < 1000; ++i)
    extents += "[1]";
  EXPECT_EQ(bodyErrors(".shared .b8 x" + extents + ";"),
            "k.ptx:5:14: error: [P-9] an array of more than 64 dimensions\n");
}

TEST(PtxVariable, ReportsEveryErrorInABody) {
  const ErrorCase cases[] = {
      {R"(.reg .b32 .f32 x;)", "k.ptx:5:11: error: [P-7] found a second type, '.f32'\n"
                               "fix: write one type\n"},
      {R"(.reg .global .b32 x;)", "k.ptx:5:6: error: [P-7] found a second state space, '.global'\n"
                                  "fix: write one state space\n"},
      {R"(.reg .foo x;)", "k.ptx:5:6: error: [P-7] found '.foo', expected a type\n"
                          "fix: types are .pred, .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16 to .f64, .bf16, .texref, "
                          ".samplerref, .surfref\n"},
      {R"(.align 4 x;)", "k.ptx:5:10: error: [P-7] found 'x' without a state space before it\n"
                         "fix: write .reg, .param, .shared, .local, .global or .const\n"},
      {R"(.reg x;)", "k.ptx:5:6: error: [P-7] found 'x' without a type before it\n"
                     "fix: write a type, as in '.b32'\n"},
      {R"(.shared .align 3 .b8 x[4];)", "k.ptx:5:16: error: [P-8] an alignment of 3 is no power of two\n"
                                        "fix: write .align 1, 2, 4, 8, 16, ...\n"},
      {R"(.shared .b8 x<4>;)", "k.ptx:5:14: error: [P-7] found '<' behind 'x', which is no register\n"
                               "fix: write an array as name[8]; only .reg counts with <8>\n"},
      {R"(.reg .b32 x<0>;)",
       "k.ptx:5:13: error: [P-8] found '0' as the number of registers, expected an integer from 1 to 16777216\n"},
      {R"(.reg .b32 x<4;)", "k.ptx:5:14: error: [P-4] found ';', expected '>'\n"},
      {R"(.reg .b32 5;)", "k.ptx:5:11: error: [P-4] found '5', expected the name of a variable\n"},
      {R"(.shared .b8 x[4][];)", "k.ptx:5:18: error: [P-8] dimension 2 of 'x' has no extent\n"
                                 "fix: only the first dimension may be []\n"},
      {R"(.shared .b8 x[-1];)", "k.ptx:5:15: error: [P-8] found '-1' as the extent of an array, expected an integer "
                                "from 0 to 9223372036854775807\n"},
      {R"(.shared .b8 x[4;)", "k.ptx:5:16: error: [P-4] found ';', expected ']'\n"},
      {R"(.shared .b64 x[0x7fffffffffffffff];)",
       "k.ptx:5:15: error: [P-8] the array 'x' has more than 2^63 - 1 bytes\n"},
      {R"(.shared .b8 x[4] = {1};)",
       "k.ptx:5:18: error: [P-10] found an initialiser of 'x', which is neither .global nor .const\n"
       "fix: remove it; store the value in a kernel\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(bodyErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
