// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/register_facts.h"

#include "ptx/parse/parser.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

/// Calls `check` with the facts of one function's body.
template <typename Check> void follow(const std::string &body, Check check) {
  const std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n.entry f()\n{\n.reg .pred %p<9>;\n.reg .b16 %rs<9>;\n"
      ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
      body + "\n}\n";
  Diagnostics errors;
  const ptx::Module module = ptx::parse(std::make_shared<SourceFile>("f.ptx", text), errors);
  ASSERT_EQ(errors.toString(), "");
  const ptx::DefUse uses = ptx::computeDefUse(module.functions[0], ptx::ModuleNames(module));
  check(RegisterFacts(module.functions[0], uses));
}

TEST(RegisterFactsTest, OperandsAreRegistersWhereTheyAreNamed) {
  follow("@%p1 ld.global.v2.b32 {%r1, _}, [%rd1+4];\nst.b32 [%rd1], 5;\nmov.b32 %r2, %r1;",
         [](const RegisterFacts &facts) {
           const uint32_t loaded = facts.registerOf(2, 1);
           EXPECT_NE(loaded, RegisterFacts::kNone);
           EXPECT_EQ(facts.registerOf(0, 0, 0), loaded);
           EXPECT_EQ(facts.registerOf(0, 0, 1), RegisterFacts::kNone);
           EXPECT_EQ(facts.registerOf(0, 0), RegisterFacts::kNone);
           EXPECT_EQ(facts.registerOf(1, 1), RegisterFacts::kNone);
           EXPECT_EQ(facts.registerOf(1, 2), RegisterFacts::kNone);
           EXPECT_EQ(facts.bitsOfRegister(loaded), 32u);
           EXPECT_EQ(facts.bitsOfRegister(facts.registerOf(0, 1, 0)), 64u);
           EXPECT_EQ(facts.bitsOfRegister(RegisterFacts::kNone), 0u);
         });
}

TEST(RegisterFactsTest, NumbersInFloatingPoint) {
  follow("add.rn.f32 %r1, %r2, %r3;\nld.global.v2.f32 {%r4, %r5}, [%rd1];\nadd.rn.f16x2 %r6, %r2, %r3;\n"
         "cvt.rzi.s32.f32 %r7, %r1;\nsetp.gt.f32 %p1, %r1, %r2;",
         [](const RegisterFacts &facts) {
           EXPECT_TRUE(facts.isFloating(facts.registerOf(0, 0)));
           EXPECT_FALSE(facts.isFloating(facts.registerOf(0, 1)));
           EXPECT_TRUE(facts.isFloating(facts.registerOf(1, 0, 0)));
           EXPECT_TRUE(facts.isFloating(facts.registerOf(1, 0, 1)));
           EXPECT_FALSE(facts.isFloating(facts.registerOf(2, 0)));
           EXPECT_FALSE(facts.isFloating(facts.registerOf(3, 0)));
         });
}

TEST(RegisterFactsTest, NumbersMadeOfFewerBits) {
  follow("mov.b32 %r3, %r1;\nld.global.v2.u8 {%r1, %r2}, [%rd1];\ncvt.s32.s16 %r4, %rs1;\ncvt.u32.u64 %r5, %rd1;\n"
         "ld.global.b32 %r6, [%rd1];\nld.global.u8 %rs2, [%rd1];",
         [](const RegisterFacts &facts) {
           EXPECT_TRUE(facts.isExtended(facts.registerOf(0, 0))); // of a loop's last turn
           EXPECT_TRUE(facts.isExtended(facts.registerOf(1, 0, 0)));
           EXPECT_TRUE(facts.isExtended(facts.registerOf(1, 0, 1)));
           EXPECT_TRUE(facts.isExtended(facts.registerOf(2, 0)));
           EXPECT_FALSE(facts.isExtended(facts.registerOf(3, 0)));
           EXPECT_FALSE(facts.isExtended(facts.registerOf(4, 0)));
           EXPECT_FALSE(facts.isExtended(facts.registerOf(5, 0)));
         });
}

TEST(RegisterFactsTest, ClampsHaveABoundFromOneOn) {
  follow("mov.b16 %rs1, 0x3C00;\nmin.f16 %rs2, %rs1, %rs3;\nmov.b16 %rs4, 0x8000;\nmax.f16 %rs5, %rs4, %rs2;\n"
         "min.f32 %r1, %r2, 0f3F000000;\nmax.f32 %r3, %r1, 0f00000000;\nmin.f32 %r4, %r2, 0f40000000;",
         [](const RegisterFacts &facts) {
           EXPECT_EQ(facts.clampOf(1), 1u);
           EXPECT_EQ(facts.clampOf(4), std::nullopt); // of a half
           EXPECT_EQ(facts.clampOf(6), std::nullopt); // of which nothing is taken
         });
}

} // namespace
} // namespace tenon::compiler::codegen
