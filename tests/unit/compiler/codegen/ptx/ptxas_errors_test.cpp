// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/ptxas_errors.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

/// Lines of a function, written around; `count` of them.
std::string around(const std::string &lines, unsigned count) {
  const std::string text = ".visible .entry f()\n{\n" + lines + "\n}\n";
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
           "{ .reg .b32 %bits; mov.b32 %bits, %r3;\tst.global.b8 \t[%rd1+3], %bits; }");
  contains(around("\tcvt.rn.f16.f32 \t%rs3, %r2;\n\tst.b8 \t[%rd1], %rs3;", 1), "mov.b16 %bits, %rs3;");
  contains(around("\tfma.rn.f64 \t%rd3, %rd2, %rd2, %rd2;\n\tst.shared.b32 \t[%r1], %rd3;", 1), "mov.b64 %bits, %rd3;");
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
           "mov.b32 %bits, %r3;\tshr.u64 \t%rd2, %rd1, %bits; }");
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tshr.u32 \t%r4, %r1, %r3;", 0);
  around("\tadd.s32 \t%r3, %r1, %r2;\n\tshl.b64 \t%rd2, %rd1, %r3;", 0);
}

TEST(PtxasErrorsTest, UpperHalvesOfExtendedNumbersAreShifted) {
  contains(around("\tld.global.s8 \t%r1, [%rd1];\n\tmov.b32 \t{_, %rs1}, %r1;", 1),
           "shr.u32 \t%upper, %r1, 16; cvt.u16.u32 \t%rs1, %upper; }");
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\tmov.b32 \t{%rs2, %rs1}, %r1;", 1), "cvt.u16.u32 \t%rs2, %r1;\n");
  contains(around("\tld.u16 \t%r1, [%rd1];\n\t{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r1; }", 1), "%upper, %r1, 16;");
  around("\tld.u8 \t%r1, [%rd1];\n\tmov.b32 \t%r2, %r1;\n\tmov.b32 \t{_, %rs1}, %r2;", 1);
  around("\tld.global.b32 \t%r1, [%rd1];\n\tmov.b32 \t{_, %rs1}, %r1;", 0);
  around("\tld.global.s8 \t%r1, [%rd1];\n\tmov.b32 \t{%rs1, _}, %r1;", 0);
}

TEST(PtxasErrorsTest, NanThatIsClampedIsTheBound) {
  contains(around("\tmin.f32 \t%r2, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r2, 0f00000000;", 1),
           "min.f32 \t%r2, %r1, 0f3F800000;\n\t{ .reg .pred %isNan; setp.nan.f32 \t%isNan, %r1, %r1; "
           "selp.f32 \t%r2, 0f3F800000, %r2, %isNan; }");
  contains(around("\tmov.b16 \t%rs5, 0x3C00;\n\tmov.b16 \t%rs6, 0x8000;\n\tmin.f16 \t%rs2, %rs5, %rs1;\n"
                  "\tmax.f16 \t%rs3, %rs2, %rs6;",
                  1),
           "setp.nan.f16 \t%isNan, %rs1, %rs1; selp.b16 \t%rs2, %rs5, %rs2, %isNan; }");
  around("\tmin.f64 \t%rd2, %rd1, 0d4000000000000000;\n\tmax.f64 \t%rd3, %rd2, 0d0000000000000000;", 1);
  around("\tmin.f32 \t%r2, %r1, 0f3F000000;\n\tmax.f32 \t%r3, %r2, 0f00000000;", 0);
  around("\tmin.f32 \t%r2, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r2, 0fBF800000;", 0);
  around("\tmax.f32 \t%r2, %r1, 0f00000000;\n\tmin.f32 \t%r3, %r2, 0f3F800000;", 0);
}

TEST(PtxasErrorsTest, TheSmallestIntegerHasNoSignToLose) {
  contains(around("\tabs.s32 \t%r2, %r1;", 1),
           "{ .reg .b32 %negative; neg.s32 \t%negative, %r1; max.s32 \t%r2, %r1, %negative; }");
  around("\tabs.s64 \t%rd2, %rd1;", 1);
  contains(around("\tneg.s16 \t%rs2, %rs1;", 1), "cvt.u32.u16 \t%wide, %rs1; neg.s32 \t%wide, %wide; cvt.u16.u32 "
                                                 "\t%negative, %wide; mov.b16 \t%rs2, %negative; }");
  contains(around("\tabs.s16 \t%rs2, %rs1;", 1), "max.s16 \t%rs2, %rs1, %negative; }");
  around("\tneg.s32 \t%r4, %r3;\n\tabs.f32 \t%r2, %r1;", 0);
}

TEST(PtxasErrorsTest, RegistersOfOtherBranchesMayHaveOtherMinima) {
  // What LLVM prints where two minima of branches meet and the larger of that and 0 is taken.
  const std::string both = around("\tmin.f32 \t%r4, %r1, 0f3F800000;\n\tmin.NaN.f32 \t%r4, %r1, 0f3F800000;\n"
                                  "\tmax.f32 \t%r3, %r4, 0f00000000;",
                                  1);
  contains(both, "%isNan; }\n\tmin.NaN.f32 \t%r4, %r1, 0f3F800000;\n\tmax.f32");
  EXPECT_EQ(around("\tmin.s32 \t%r4, %r1, 5;\n\tmin.f32 \t%r4, %r1, 0f3F800000;\n\tmax.f32 \t%r3, %r4, 0f00000000;", 1)
                .find("setp.nan.s32"),
            std::string::npos);
}

TEST(PtxasErrorsTest, PredicatesAndOtherStatementsStay) {
  contains(around("\t@%p1 abs.s32 \t%r1, %r2;\n\tabs.s32 \t%r3, %r2;", 2), "@%p1 max.s32 \t%r1, %r2, %negative; }");
  contains(around("\t@!%p1 neg.s16 \t%rs1, %rs2;\n\tabs.s32 \t%r3, %r2;", 2), "@!%p1 mov.b16 \t%rs1, %negative; }");
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\t@%p1 mov.b32 \t{%rs2, %rs1}, %r1;", 1),
           "@%p1 cvt.u16.u32 \t%rs1, %upper; }");
  around("\tabs.s32 %r1, %r2; add.s32 %r1, %r1, 1;", 0);
  around("\tcvt.u32.u16 \t%r1, %rs4;\n\tmov.b32 {%rs2, %rs1}, %r1; add.u16 %rs1, %rs1, 1;", 0);
  around("\tadd.rn.f32 \t%r3, %r1, %r2;\n\tst.global.b8 [%rd1], %r3; mov.b32 %r3, 0;", 0);
}

TEST(PtxasErrorsTest, BracesOfAssemblyEndNoFunction) {
  contains(around("\tcvt.u32.u16 \t%r1, %rs4;\n\t// begin inline asm\n\t{\n.reg .pred done;\n}\n\t// end inline asm\n"
                  "\tmov.b32 \t{_, %rs1}, %r1;",
                  1),
           "shr.u32 \t%upper, %r1, 16;");
}

} // namespace
} // namespace tenon::compiler::codegen
