// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that stay in a variable, and those that may not: %rd1 is p, %rd2 is q, %rd3 a number; the words are those of
// p and q.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

using testing::body;

struct Case {
  std::string_view name, text, words;
};

/// A structure of both pointers in shared memory beside a tile of 1024 floats; p is read, q written.
TEST(PlanBounds, AnIndexThatStaysInATileLeavesThePointersBesideIt) {
  const std::string_view before =
      ".shared .align 8 .b8 s[16]; .shared .align 4 .b8 t[4096]; mov.u32 %r1, t; mov.u32 %r2, "
      "%tid.x; st.shared.u64 [s], %rd1; st.shared.u64 [s+8], %rd2; ";
  const std::string_view behind = " bar.sync 0; ld.shared.u64 %rd8, [s]; ld.shared.u64 %rd9, [s+8]; ld.global.u32 %r9, "
                                  "[%rd8]; st.global.u32 [%rd9], %r9;";
  const Case cases[] = {
      {"thread by thread", "shl.b32 %r3, %r2, 2; add.s32 %r4, %r1, %r3; st.shared.u32 [%r4], 1;", "read written"},
      {"by a product", "mad.lo.s32 %r4, %r2, 4, %r1; st.shared.u32 [%r4], 1; ld.shared.u32 %r5, [%r4];",
       "read written"},
      {"a row and a column",
       "mov.u32 %r3, %tid.y; and.b32 %r5, %r3, 15; and.b32 %r6, %r2, 31; mad.lo.s32 %r7, %r5, 32, %r6;\n"
       "mul.wide.u32 %rd4, %r7, 4; mov.u64 %rd5, t; add.s64 %rd6, %rd5, %rd4; st.shared.u32 [%rd6+2044], 1;",
       "read written"},
      {"by a generic address",
       "mov.u64 %rd4, t; cvta.shared.u64 %rd5, %rd4; mul.wide.u32 %rd6, %r2, 4; add.s64 %rd7, %rd5, %rd6;\n"
       "st.u32 [%rd7], 1;",
       "read written"},
      {"four at a time",
       "and.b32 %r3, %r2, 255; shl.b32 %r5, %r3, 4; add.s32 %r4, %r5, %r1; st.shared.v4.u32 [%r4], {%r2, %r2, %r2, "
       "%r2};",
       "read written"},
      {"a remainder, a field and the lesser",
       "rem.u32 %r3, %r8, 100; bfe.u32 %r4, %r8, 7, 5; min.u32 %r5, %r8, 99; add.u32 %r6, %r3, %r4;\n"
       "add.u32 %r11, %r6, %r5; shr.u32 %r7, %r8, 23; add.u32 %r12, %r7, %r11; mad.lo.s32 %r10, %r12, 4, %r1;\n"
       "st.shared.u32 [%r10+1132], 1;",
       "read written"},
      {"the same, one too far",
       "rem.u32 %r3, %r8, 100; bfe.u32 %r4, %r8, 7, 5; min.u32 %r5, %r8, 99; add.u32 %r6, %r3, %r4;\n"
       "add.u32 %r11, %r6, %r5; shr.u32 %r7, %r8, 23; add.u32 %r12, %r7, %r11; mad.lo.s32 %r10, %r12, 4, %r1;\n"
       "st.shared.u32 [%r10+1136], 1;",
       "stored maybe"},
      {"past its end", "mad.lo.s32 %r4, %r2, 4, %r1; st.shared.u32 [%r4+4], 1;", "stored maybe"},
      {"in front of it", "mad.lo.s32 %r4, %r2, 4, %r1; st.shared.u32 [%r4+-4], 1;", "stored maybe"},
      {"past its end by its width", "mad.lo.s32 %r4, %r2, 4, %r1; st.shared.v2.u32 [%r4], {%r2, %r2};", "stored maybe"},
      {"too far apart", "mad.lo.s32 %r4, %r2, 8, %r1; st.shared.u32 [%r4], 1;", "stored maybe"},
      {"backwards", "sub.s32 %r3, 0, %r2; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;", "stored maybe"},
      {"by an index that nobody knows", "mad.lo.s32 %r4, %r8, 4, %r1; st.shared.u32 [%r4], 1;", "stored maybe"},
      {"by a block's number", "mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"around 2^32",
       "mov.u32 %r3, 1073741825; mul.lo.u32 %r3, %r2, %r3; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"set on one path", "@%p1 bra L; and.b32 %r3, %r8, 31; L: mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"set under a guard", "@%p1 and.b32 %r3, %r8, 31; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"set behind its use", "mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1; and.b32 %r3, %r8, 31;",
       "stored maybe"},
      {"a remainder with a sign", "rem.s32 %r3, %r8, 100; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"the lesser with a sign", "min.s32 %r3, %r8, 99; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"a shift with a sign", "shr.s32 %r3, %r8, 24; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "stored maybe"},
      {"bits of a pointer as an index",
       "bfe.u64 %rd4, %rd1, 9, 9; cvt.u32.u64 %r3, %rd4; mad.lo.s32 %r4, %r3, 4, %r1; st.shared.u32 [%r4], 1;",
       "maybe maybe"},
      {"an atomic", "mad.lo.s32 %r4, %r2, 4, %r1; red.shared.add.u32 [%r4], 1;", "stored maybe"},
  };
  for (const Case &row : cases)
    EXPECT_EQ(body(concat(before, row.text, behind)), row.words) << row.name;
}

TEST(PlanBounds, WhatIsStoredSomewhereInATileIsThere) {
  const std::string_view before = ".shared .align 8 .b8 t[8192]; mov.u32 %r1, t; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, "
                                  "%r2, 8, %r1; ";
  const Case cases[] = {
      {"a pointer, found there", "st.shared.u64 [%r3], %rd1; ld.shared.u64 %rd4, [%r3]; st.global.u32 [%rd4], 1;",
       "written number"},
      {"a pointer, found at a place of it",
       "st.shared.u64 [%r3], %rd1; ld.shared.u64 %rd4, [t]; st.global.u32 [%rd4], 1;", "written number"},
      {"a pointer at a place of it", "st.shared.u64 [t+16], %rd1; ld.shared.u64 %rd4, [%r3]; st.global.u32 [%rd4], 1;",
       "written number"},
      {"a pointer, found anywhere", "st.shared.u64 [%r3], %rd1; ld.shared.u64 %rd4, [%r8]; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"a pointer anywhere", "st.shared.u64 [%r8], %rd1; ld.shared.u64 %rd4, [%r3]; st.global.u32 [%rd4], 1;",
       "written number"},
      {"its halves, found together",
       "mov.b64 {%r4, %r5}, %rd1; st.shared.v2.u32 [%r3], {%r4, %r5}; ld.shared.u64 %rd4, [%r3]; st.global.u32 [%rd4], "
       "1;",
       "maybe number"},
      {"one of two pointers",
       "st.shared.u64 [t], %rd1; st.shared.u64 [t+8], %rd2; and.b32 %r4, %r2, 1; mad.lo.s32 %r5, %r4, 8, %r1;\n"
       "ld.shared.u64 %rd4, [%r5]; ld.global.u32 %r6, [%rd4]; add.s64 %rd5, %rd2, 64; st.global.u32 [%rd5], %r6;",
       "read written"},
      {"one of two pointers beside halves",
       "st.shared.u64 [t], %rd1; st.shared.u64 [t+8], %rd2; st.shared.u32 [t+4], %r9; and.b32 %r4, %r2, 1;\n"
       "mad.lo.s32 %r5, %r4, 8, %r1; ld.shared.u64 %rd4, [%r5]; st.global.u32 [%rd4], 1;",
       "maybe maybe"},
      {"half of one of two pointers",
       "st.shared.u64 [t], %rd1; and.b32 %r4, %r2, 3; mad.lo.s32 %r5, %r4, 4, %r1; ld.shared.u32 %r6, [%r5];\n"
       "cvt.u64.u32 %rd4, %r6; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"what stands behind what may be reached",
       "st.shared.u64 [t+16], %rd1; and.b32 %r4, %r2, 1; mad.lo.s32 %r5, %r4, 8, %r1; ld.shared.u64 %rd4, [%r5];\n"
       "st.global.u32 [%rd4], 1;",
       "number number"},
      {"what stands at its end",
       "st.shared.u64 [t+8], %rd1; and.b32 %r4, %r2, 1; mad.lo.s32 %r5, %r4, 8, %r1; ld.shared.u64 %rd4, [%r5];\n"
       "st.global.u32 [%rd4], 1;",
       "written number"},
      {"something else",
       "st.shared.u64 [%r3], %rd3; ld.shared.u64 %rd4, [%r3]; add.u64 %rd4, %rd4, %rd2;\n"
       "st.global.u32 [%rd4], 1;",
       "number written"},
  };
  for (const Case &row : cases)
    EXPECT_EQ(body(concat(before, row.text)), row.words) << row.name;
}

/// The words for two pointers at the begin of a parameter of 272 bytes, %rd1 and %rd2; %rd3 is its address.
std::string structWords(std::string_view text) {
  Diagnostics diagnostics;
  const std::string kernel = concat(".visible .entry k(.param .align 8 .b8 s[272]) {\n"
                                    ".reg .b32 %r<9>; .reg .b64 %rd<10>;\n"
                                    "ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8]; mov.b64 %rd3, s;\n",
                                    text, "\nld.global.u32 %r8, [%rd1]; st.global.u32 [%rd2], %r8; ret;\n}\n");
  const ptx::Module module =
      ptx::parse(std::make_shared<SourceFile>("a.ptx", testing::ptxModule(kernel, "sm_90", "8.6")), diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  const ParameterSlots slots = {
      {.parameter = 0}, {.parameter = 0, .isPointer = true}, {.parameter = 0, .offset = 8, .isPointer = true}};
  const KernelTrace trace = ModuleTracer(module).trace(module.functions.back(), slots);
  auto word = [](const SlotAccess &access) {
    return access.maybeWritten ? "maybe" : access.written ? "written" : access.stored ? "stored" : "read";
  };
  return concat(word(trace.slots[1]), ' ', word(trace.slots[2]));
}

/// A table of numbers in a struct behind pointers, as a kernel's Params have them.
TEST(PlanBounds, AnIndexThatStaysInATableOfAParameterLeavesThePointersBeforeIt) {
  const std::string_view index = "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 63; mul.wide.u32 %rd4, %r1, 4;\n"
                                 "add.s64 %rd5, %rd3, %rd4;\n";
  const Case cases[] = {
      {"a number is stored", "ld.param.u32 %r2, [%rd5+16]; st.global.u32 [%rd2+8], %r2;", "read written"},
      {"it is an index",
       "ld.param.u32 %r2, [%rd5+16]; mul.wide.u32 %rd6, %r2, 4; add.s64 %rd6, %rd2, %rd6;\n"
       "st.global.u32 [%rd6], 1;",
       "read written"},
      {"by a generic address", "cvta.param.u64 %rd6, %rd5; ld.u32 %r2, [%rd6+16]; st.global.u32 [%rd2+8], %r2;",
       "read written"},
      {"two at a time", "ld.param.v2.u32 {%r2, %r3}, [%rd5]; st.global.u32 [%rd2+8], %r3;", "stored written"},
      {"it begins in the first pointer", "ld.param.u32 %r2, [%rd5+4]; st.global.u32 [%rd2+8], %r2;", "stored written"},
      {"it ends one late", "ld.param.u32 %r2, [%rd5+20]; st.global.u32 [%rd2+8], %r2;", "stored written"},
      {"nobody knows the index",
       "mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd7, %r4, 4; add.s64 %rd8, %rd3, %rd7; ld.param.u32 %r2, [%rd8+16];\n"
       "st.global.u32 [%rd2+8], %r2;",
       "stored written"},
      {"one of the pointers",
       "and.b32 %r4, %r0, 1; mul.wide.u32 %rd7, %r4, 8; add.s64 %rd8, %rd3, %rd7; ld.param.u64 %rd6, [%rd8];\n"
       "st.global.u32 [%rd6], 1;",
       "maybe maybe"},
      {"the first of them, or a number",
       "and.b32 %r4, %r0, 1; mul.wide.u32 %rd7, %r4, 8; sub.s64 %rd8, %rd3, %rd7; ld.param.u64 %rd6, [%rd8+8];\n"
       "st.global.u32 [%rd6], 1;",
       "maybe maybe"},
      {"the second, or a number",
       "and.b32 %r4, %r0, 1; mul.wide.u32 %rd7, %r4, 8; add.s64 %rd8, %rd3, %rd7; ld.param.u64 %rd6, [%rd8+8];\n"
       "st.global.u32 [%rd6], 1;",
       "read written"},
  };
  for (const Case &row : cases)
    EXPECT_EQ(structWords(concat(index, row.text)), row.words) << row.name;
}

} // namespace
} // namespace tenon::linker
