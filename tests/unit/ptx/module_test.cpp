// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/module.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {

TEST(PtxModule, SpellsEveryTypeAsItReadsIt) {
  for (int i = 1; i <= static_cast<int>(ScalarType::SurfRef); ++i) {
    auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(parseScalarType(spelling(type)), type);
    EXPECT_GT(byteSize(type), 0u) << spelling(type);
  }
  EXPECT_EQ(parseScalarType("f33"), ScalarType::None);
  EXPECT_EQ(parseScalarType(""), ScalarType::None);
  EXPECT_EQ(byteSize(ScalarType::None), 0u);
  EXPECT_EQ(byteSize(ScalarType::B128), 16u);
  EXPECT_EQ(byteSize(ScalarType::E4M3x2), 2u);
  EXPECT_EQ(byteSize(ScalarType::F32x2), 8u);
}

TEST(PtxModule, CountsBytesAndAlignment) {
  Variable variable;
  variable.type = ScalarType::F32;
  variable.vectorWidth = 4;
  EXPECT_EQ(variable.bytes(), 16u);
  EXPECT_EQ(variable.effectiveAlignment(), 16u);
  variable.dimensions = {3, 5};
  variable.alignment = 64;
  EXPECT_EQ(variable.bytes(), 240u);
  EXPECT_EQ(variable.effectiveAlignment(), 64u);
  variable.dimensions = {std::nullopt, 5};
  EXPECT_EQ(variable.bytes(), 0u);
  variable.dimensions = {UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(variable.bytes(), UINT64_MAX);
}

TEST(PtxModule, PrintsTheFormOfAnInstruction) {
  Instruction instruction;
  instruction.opcode = "ld";
  const std::array<std::string_view, 3> modifiers = {"global", "L2::128B", "f32"};
  instruction.modifiers = List<std::string_view>(modifiers.data(), modifiers.size());
  EXPECT_EQ(instruction.form(), "ld.global.L2::128B.f32");
  EXPECT_TRUE(instruction.hasModifier("f32"));
  EXPECT_FALSE(instruction.hasModifier("f3"));
}

TEST(PtxModule, FindsDefinitionsBeforeDeclarations) {
  test::Parsed parsed = test::parseModule(".extern .func f(); .func f() { ret; } .extern .func g();\n"
                                          ".extern .global .u32 x; .visible .global .u32 x = 3;");
  ASSERT_EQ(parsed.errors, "");
  EXPECT_EQ(parsed.module.findFunction("f"), &parsed.module.functions[1]);
  EXPECT_EQ(parsed.module.findFunction("g"), &parsed.module.functions[2]);
  EXPECT_EQ(parsed.module.findFunction("h"), nullptr);
  EXPECT_EQ(parsed.module.findVariable("x"), &parsed.module.variables[1]);
  EXPECT_EQ(parsed.module.findVariable("y"), nullptr);
}

TEST(PtxModule, FindsWhatAnAliasStandsFor) {
  test::Parsed parsed = test::parseModule(".func f() { ret; } .func g(); .alias g, f; .func a(); .func b();\n"
                                          ".alias a, b; .alias b, a;");
  ASSERT_EQ(parsed.errors, "");
  EXPECT_EQ(parsed.module.findFunction("g"), &parsed.module.functions[0]);
  EXPECT_EQ(parsed.module.findFunction("a"), &parsed.module.functions[2]) << "neither is defined";
}

} // namespace tenon::ptx
