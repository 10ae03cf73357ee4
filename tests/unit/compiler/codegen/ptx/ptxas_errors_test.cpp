// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/ptxas_errors.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

/// Lines of a function, written around; `count` of them.
std::string around(const std::string &lines, unsigned count) {
  const std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry f()\n{\n\t.reg .pred %p<9>;\n"
      "\t.reg .b16 %rs<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n" +
      lines + "\n}\n";
  llvm::SmallString<0> ptx(text);
  EXPECT_EQ(writeAroundPtxasErrors(ptx), count) << text;
  if (count == 0) {
    EXPECT_EQ(ptx.str().str(), text);
  }
  return ptx.str().str();
}

void contains(const std::string &text, const std::string &what) {
  EXPECT_NE(text.find(what), std::string::npos) << text;
}

TEST(PtxasErrorsTest, StoresOfLowBitsOfFloatsAreOfCopies) {
  contains(around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tst.global.b8 \t[%rd1+3], %r3;", 1),
           "{ .reg .b32 %tenon_bits; mov.b32 %tenon_bits, %r3; st.global.b8 [%rd1+3], %tenon_bits; }");
  contains(around("\tcvt.rn.f16.f32 \t%rs3, %r2;\n\tst.b8 \t[%rd1], %rs3;", 1), "mov.b16 %tenon_bits, %rs3;");
  contains(around("\tfma.rn.f64 \t%rd3, %rd2, %rd2, %rd2;\n\tst.shared.b32 \t[%r1], %rd3;", 1),
           "mov.b64 %tenon_bits, %rd3;");
  around("\tneg.bf16 \t%rs3, %rs2;\n\tst.local.b8 \t[%rd1], %rs3;", 1);
  around("\tselp.f32 \t%r3, %r2, %r1, %p1;\n\tst.global.b16 \t[%rd1], %r3;", 1);
  around("\tst.global.b16 \t[%rd1], %r3;\n\t@%p1 mul.rn.f32 \t%r3, %r2, %r1;", 1); // in a loop
}

TEST(PtxasErrorsTest, OtherStoresStay) {
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tst.global.b32 \t[%rd1], %r3;", 0);
  around("\tadd.rn.f16x2 \t%r3, %r1, %r2;\n\tst.global.b16 \t[%rd1], %r3;", 0);
  around("\tcvt.rn.satfinite.e4m3x2.f32 \t%rs3, %r1, %r2;\n\tst.global.b8 \t[%rd1], %rs3;", 0);
  around("\tcvt.rzi.s32.f32 \t%r3, %r1;\n\tst.global.b8 \t[%rd1], %r3;", 0);
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tst.global.v2.b16 \t[%rd1], {%r3, %r3};", 0);
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n}\n{\n\tst.global.b8 \t[%rd1], %r3;", 0); // another function's register
}

TEST(PtxasErrorsTest, ShiftsByBitsOfFloatsAreByCopies) {
  contains(around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tshr.u64 \t%rd2, %rd1, %r3;", 1),
           "mov.b32 %tenon_bits, %r3; shr.u64 %rd2, %rd1, %tenon_bits; }");
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tshr.u32 \t%r4, %r1, %r3;", 0);
  around("\tadd.s32 \t%r3, %r1, %r2;\n\tshl.b64 \t%rd2, %rd1, %r3;", 0);
}

TEST(PtxasErrorsTest, UpperHalvesOfExtendedNumbersAreShifted) {
  contains(around("\tld.global.s8 \t%r1, [%rd1];\n\tmov.b32 \t{_, %rs1}, %r1;", 1),
           "{ .reg .b32 %tenon_upper; shr.u32 %tenon_upper, %r1, 16; cvt.u16.u32 %rs1, %tenon_upper; }");
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\tmov.b32 \t{%rs2, %rs1}, %r1;", 1),
           "16; cvt.u16.u32 %rs2, %r1; cvt.u16.u32 %rs1, %tenon_upper; }");
  contains(around("\tld.u16 \t%r1, [%rd1];\n\t{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r1; }", 1),
           "%tenon_upper, %r1, 16; cvt.u16.u32 tmp, %r1;");
  around("\tld.u8 \t%r1, [%rd1];\n\tmov.b32 \t%r2, %r1;\n\tmov.b32 \t{_, %rs1}, %r2;", 1);
  around("\tld.global.b32 \t%r1, [%rd1];\n\tmov.b32 \t{_, %rs1}, %r1;", 0);
  around("\tld.global.s8 \t%r1, [%rd1];\n\tmov.b32 \t{%rs1, _}, %r1;", 0);
}

TEST(PtxasErrorsTest, NanThatIsClampedIsTheBound) {
  contains(around("\tmin.f32 \t%r2, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r2, 0f00000000;", 1),
           "min.f32 %r2, %r1, 0f3F800000; { .reg .pred %tenon_isNan; setp.nan.f32 %tenon_isNan, %r1, %r1; "
           "selp.f32 %r2, 0f3F800000, %r2, %tenon_isNan; }");
  contains(around("\tmov.b16 \t%rs5, 0x3C00;\n\tmov.b16 \t%rs6, 0x8000;\n\tmin.f16 \t%rs2, %rs5, %rs1;\n"
                  "\tmax.f16 \t%rs3, %rs2, %rs6;",
                  1),
           "setp.nan.f16 %tenon_isNan, %rs1, %rs1; selp.b16 %rs2, %rs5, %rs2, %tenon_isNan; }");
  around("\tmin.f64 \t%rd2, %rd1, 0d4000000000000000;\n\tmax.f64 \t%rd3, %rd2, 0d0000000000000000;", 1);
  around("\tmin.f32 \t%r2, %r1, 0f3F000000;\n\tmax.f32 \t%r3, %r2, 0f00000000;", 0);
  around("\tmin.f32 \t%r2, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r2, 0fBF800000;", 0);
  around("\tmax.f32 \t%r2, %r1, 0f00000000;\n\tmin.f32 \t%r3, %r2, 0f3F800000;", 0);
}

TEST(PtxasErrorsTest, TheSmallestIntegerHasNoSignToLose) {
  contains(around("\tabs.s32 \t%r2, %r1;", 1),
           "{ .reg .b32 %tenon_negative; not.b32 %tenon_negative, %r1; add.s32 %tenon_negative, %tenon_negative, 1; "
           "max.s32 %r2, %r1, %tenon_negative; }");
  around("\tabs.s64 \t%rd2, %rd1;", 1);
  contains(around("\tneg.s16 \t%rs2, %rs1;", 1),
           "cvt.u32.u16 %tenon_wide, %rs1; neg.s32 %tenon_wide, %tenon_wide; cvt.u16.u32 "
           "%tenon_negative, %tenon_wide; mov.b16 %rs2, %tenon_negative; }");
  contains(around("\tabs.s16 \t%rs2, %rs1;", 1), "max.s16 %rs2, %rs1, %tenon_negative; }");
  around("\tneg.s32 \t%r4, %r3;\n\tabs.f32 \t%r2, %r1;", 0);
}

TEST(PtxasErrorsTest, TheLargestOfThreeKeepsItsSign) {
  const std::string three = "\tneg.s32 \t%r4, %r1;\n\tmax.s32 \t%r5, %r2, %r4;\n\tmax.s32 \t%r6, %r5, %r3;";
  contains(around(three, 1), "{ .reg .b32 %tenon_negative; not.b32 %tenon_negative, %r1; "
                             "add.s32 %tenon_negative, %tenon_negative, 1; mov.b32 %r4, %tenon_negative; }");
  around("\tneg.s32 \t%r4, %r1;\n\tabs.s32 \t%r5, %r4;", 2);
  around("\tmin.s32 \t%r5, %r2, %r4;\n\t@%p1 neg.s32 \t%r4, %r1;", 1); // of a loop
  around("\tneg.s32 \t%r4, %r1;\n\tmax.u32 \t%r5, %r2, %r4;\n\tmax.u32 \t%r6, %r5, %r3;", 0);
  around("\tneg.s64 \t%rd4, %rd1;\n\tmax.s64 \t%rd5, %rd2, %rd4;\n\tmax.s64 \t%rd6, %rd5, %rd3;", 0);
}

TEST(PtxasErrorsTest, UpperHalvesAreThoseOfWideProducts) {
  contains(around("\tmul.hi.u32 \t%r3, %r1, 7;\n\tadd.s32 \t%r4, %r3, %r4;", 1),
           "{ .reg .b32 %tenon_lower; .reg .b64 %tenon_product; mul.wide.u32 %tenon_product, %r1, 7; "
           "mov.b64 {%tenon_lower, %r3}, %tenon_product; }");
  contains(around("\t@!%p1 mul.hi.s32 \t%r3, %r1, %r2;", 1),
           "mul.wide.s32 %tenon_product, %r1, %r2; @!%p1 mov.b64 {%tenon_lower, %r3}, %tenon_product; }");
  around("\tmul.hi.u64 \t%rd3, %rd1, %rd2;\n\tmul.lo.s32 \t%r3, %r1, %r2;\n\tmul.hi.u16 \t%rs3, %rs1, %rs2;", 0);
}

TEST(PtxasErrorsTest, EqualityWithASmallerOneIsNoDifference) {
  contains(around("\tmin.u16 \t%rs3, %rs1, 192;\n\tsetp.eq.b16 \t%p1, %rs3, 192;", 1),
           "{ .reg .pred %tenon_differ; setp.ne.b16 %tenon_differ, %rs3, 192; not.pred %p1, %tenon_differ; }");
  contains(
      around("\tmax.s16x2 \t%r3, %r1, %r2;\n\tmov.b32 \t{%rs1, %rs2}, %r3;\n\t@!%p2 setp.eq.s16 \t%p2, %rs1, %rs4;", 1),
      "setp.ne.s16 %tenon_differ, %rs1, %rs4; @!%p2 not.pred %p2, %tenon_differ; }");
  around("\tsetp.eq.b16 \t%p1, %rs3, %rs2;\n\tmin.s16 \t%rs3, %rs1, %rs2;", 1); // in a loop
  around("\tmin.u16 \t%rs3, %rs1, 192;\n\tsetp.ne.b16 \t%p1, %rs3, 192;\n\tsetp.lt.u16 \t%p2, %rs3, 192;", 0);
  around("\tmin.u32 \t%r3, %r1, 192;\n\tsetp.eq.b32 \t%p1, %r3, 192;\n\tsetp.eq.b16 \t%p1, %rs3, %rs2;", 0);
  around("\tmin.u16 \t%rs3, %rs1, 192;\n\tcvt.u32.u16 \t%r3, %rs3;\n\tsetp.eq.b32 \t%p1, %r3, 192;", 1);
  around("\tmin.u16 \t%rs3, %rs1, 192;\n\tsetp.eq.b64 \t%p1, %rd3, 192;\n\tsetp.eq.f16 \t%p2, %rs1, %rs2;", 0);
}

TEST(PtxasErrorsTest, RegistersOfOtherBranchesMayHaveOtherMinima) {
  // What LLVM prints where two minima of branches meet and the larger of that and 0 is taken.
  const std::string both = around("\tmin.f32 \t%r4, %r1, 0f3F800000;\n\tmin.NaN.f32 \t%r4, %r1, 0f3F800000;\n"
                                  "\tmax.f32 \t%r3, %r4, 0f00000000;",
                                  1);
  contains(both, "%tenon_isNan; }\n\tmin.NaN.f32 \t%r4, %r1, 0f3F800000;\n\tmax.f32");
  EXPECT_EQ(around("\tmin.s32 \t%r4, %r1, 5;\n\tmin.f32 \t%r4, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r4, 0f00000000;", 1)
                .find("setp.nan.s32"),
            std::string::npos);
}

TEST(PtxasErrorsTest, PredicatesAndOtherStatementsStay) {
  contains(around("\t@%p1 abs.s32 \t%r1, %r2;\n\tabs.s32 \t%r3, %r2;", 2), "@%p1 max.s32 %r1, %r2, %tenon_negative; }");
  contains(around("\t@!%p1 neg.s16 \t%rs1, %rs2;\n\tabs.s32 \t%r3, %r2;", 2), "@!%p1 mov.b16 %rs1, %tenon_negative; }");
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\t@%p1 mov.b32 \t{%rs2, %rs1}, %r1;", 1),
           "@%p1 cvt.u16.u32 %rs1, %tenon_upper; }");
  contains(around("\tabs.s32 %r1, %r2; add.s32 %r1, %r1, 1;", 1), "%tenon_negative; } add.s32 %r1, %r1, 1;");
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\tmov.b32 {%rs2, %rs1}, %r1; add.u16 %rs1, %rs1, 1;", 1),
           "%tenon_upper; } add.u16 %rs1, %rs1, 1;");
  contains(around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tst.global.b8 [%rd1], %r3; mov.b32 %r3, 0;", 1),
           "%tenon_bits; } mov.b32 %r3, 0;");
}

TEST(PtxasErrorsTest, RegistersOfAssemblyAreThoseOfItsScope) {
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\t// begin inline asm\n\t{\n.reg .pred done;\n}\n\t// end inline asm\n"
                  "\tmov.b32 \t{_, %rs1}, %r1;",
                  1),
           "shr.u32 %tenon_upper, %r1, 16;");
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\t{ .reg .b32 %r3; mov.b32 %r3, 5; st.global.b8 [%rd1], %r3; }", 0);
  contains(around("\t{ .reg .f32 sum; add.f32 sum, %r1, %r2; st.global.b8 [%rd1], sum; }", 1),
           "mov.b32 %tenon_bits, sum;");
}

TEST(PtxasErrorsTest, OtherFunctionsAndWhatCannotBeReadStay) {
  const std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n.entry f() {\n.reg .b32 %r<3>;\nabs.s32 %r1 %r2;\n}\n";
  llvm::SmallString<0> ptx(text);
  EXPECT_EQ(writeAroundPtxasErrors(ptx), 0u);
  EXPECT_EQ(ptx.str().str(), text); // whoever reads it next says why
}

} // namespace
} // namespace tenon::compiler::codegen
