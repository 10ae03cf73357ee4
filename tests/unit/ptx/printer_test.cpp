// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/printer.h"
#include "tests/unit/ptx/module_equality.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

TEST(PtxPrinter, PrintsAnInstructionAsPeopleWriteIt) {
  for (std::string_view text :
       {"ret;", "@!%p1 bra.uni $L;", "ld.global.nc.L2::128B.v2.f32 {%f1, _}, [%rd1+8];", "st.u32 [sym+-4], -5;",
        "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;", "fma.rn.f32 %f1, -%f2, 0f3F800000, 0dBFF0000000000000;",
        "call (_), %rd1, (a, 4, {b, c}), prototype_0;", "cp.async.bulk.tensor.2d [%r1], [%rd1, {%r2, %r3}], [%r4];",
        "mov.u64 %rd1, table+8;", "mov.u32 %r1, %tid.x;", "call f, ();", "mov.b64 %rd1, -9223372036854775808;"}) {
    Parsed parsed = parseBody(text);
    ASSERT_EQ(parsed.errors, "");
    EXPECT_EQ(print(parsed.module.functions[0].instructions[0]), text);
  }
}

TEST(PtxPrinter, PrintsDeclarationsAsPeopleWriteThem) {
  for (std::string_view text :
       {".extern .shared .align 16 .b8 d[]", ".visible .global .align 8 .v2 .f32 a[2][2] = {{{1, 2}, {3, 0}}, {{5}}}",
        ".global .u64 x[3] = {f, generic(y)+8, 0xFF00(generic(y)+-8)}", ".global .attribute(.managed) .u32 m = 7",
        ".global .samplerref s = {filter_mode = nearest, x = 1}", ".const .f32 c = 0f40200000", ".weak .global .u32 w",
        ".common .global .u32 x[2] = {}", ".global .b8 x[2][3] = {{1, 2, 3}, {4}}"}) {
    Parsed parsed = parseModule(std::string(text) + ";");
    ASSERT_EQ(parsed.errors, "");
    EXPECT_EQ(print(parsed.module.variables[0]), text);
  }
}

TEST(PtxPrinter, PrintsAModuleThatParsesBackToAnEqualOne) {
  Parsed parsed = parseText(R"(.version 8.3
.target sm_90a, debug
.address_size 64
.file 1 "C:\a.cu"
.pragma "all";
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func stop() .noreturn;
.global .u32 x[] = {1, 2}, y;
.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u64 .ptr q, .param .align 64 .b8 map[128])
.maxntid 256 .reqntid 1, 2, 3 .minnctapersm 2 .maxnreg 64 .explicitcluster .reqnctapercluster 2 .maxclusterrank 8
.blocksareclusters .pragma "x", "y";
{
  .reg .pred %p<2>; .reg .b32 %r<12>, t; .shared .align 4 .b8 s[4];
  .loc 1 2 3, function_name $L__info0, inlined_at 1 8 3
  { .param .b64 param0; call (_), %rd1, (param0, 1), prototype_0; }
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
  targets: .branchtargets a, b; calls: .calltargets f, g;
a: ld.u32 t, [a].unified; .pragma "nounroll"; ret;
}
.func (.reg .b32 r) f(.reg .b32 a) { ret; }
.global .u64 after = f;
.alias g, f;
)");
  ASSERT_EQ(parsed.errors, "");
  std::string text = print(parsed.module);
  Parsed again = parseText(text);
  ASSERT_EQ(again.errors, "") << text;
  EXPECT_TRUE(equal(parsed.module, again.module)) << text;
  EXPECT_EQ(print(again.module), text);
  EXPECT_LT(text.find(".global .u32 x[2]"), text.find(".entry k"));
  EXPECT_LT(text.find(".func (.reg"), text.find(".u64 after"));
}

} // namespace
} // namespace tenon::ptx
