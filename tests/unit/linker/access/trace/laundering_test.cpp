// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways to compute an address from a pointer that is not the pointer: what each comes to, and what comes close and is
// proved. %rd1 is p, %rd2 is q, %rd3 a number; the words are those of p and q. laundering_paths_test.cpp goes on with
// ways around what is computed.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

using Case = testing::BodyCase;
using testing::expectBodies;

TEST(Laundering, APointerLessSomeOfItsBits) {
  const Case cases[] = {
      {"page of 8192", "and.b64 %rd4, %rd1, 8191; sub.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;", "maybe number"},
      {"page of 4096", "and.b64 %rd4, %rd1, 4095; sub.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;", "maybe number"},
      {"line of 256", "and.b64 %rd4, %rd1, 255; sub.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;", "written number"},
      {"aligned down", "and.b64 %rd4, %rd1, -128; st.global.u32 [%rd4], 1;", "written number"},
      {"aligned up", "add.u64 %rd4, %rd1, 15; and.b64 %rd4, %rd4, -16; st.global.u32 [%rd4], 1;", "written number"},
      {"masked by a register", "and.b64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 1;", "maybe number"},
      {"masked by a number in a register", "mov.b64 %rd9, -16; and.b64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], 1;",
       "written number"},
      {"masked by a number of an earlier block",
       "mov.u64 %rd9, -16; @%p1 bra L; L: and.b64 %rd4, %rd9, %rd1; st.global.u32 [%rd4], 1;", "written number"},
      {"a mask that is set behind", "and.b64 %rd4, %rd1, %rd9; mov.b64 %rd9, -16; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"a mask that a path leaves out",
       "@%p1 bra L; mov.b64 %rd9, -16; L: and.b64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], 1;", "maybe number"},
      {"a mask under a guard", "@%p1 mov.b64 %rd9, -16; and.b64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"a mask that is set twice",
       "mov.b64 %rd9, 4095; mov.b64 %rd9, -16; and.b64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], 1;", "maybe number"},
      {"a mask of too many bits", "mov.b64 %rd9, -8192; and.b64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"a mask of another scope",
       "{ .reg .b64 %m; mov.b64 %m, -16; } { .reg .b64 %m; and.b64 %rd4, %rd1, %m; } st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"the top by a number in a register",
       "mov.u32 %r9, 56; shr.u64 %rd4, %rd1, %r9; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "number written"},
      {"more than the top",
       "mov.u32 %r9, 51; shr.u64 %rd4, %rd1, %r9; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;", "maybe written"},
      {"low half", "cvt.u32.u64 %r1, %rd1; cvt.u64.u32 %rd4, %r1; sub.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 1;",
       "maybe number"},
      {"difference of low halves",
       "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; sub.u32 %r3, %r1, %r2; cvt.s64.s32 %rd4, %r3;\n"
       "add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "maybe maybe"},
      {"a number in the low half", "cvt.u32.u64 %r1, %rd1; cvt.u64.u32 %rd4, %r1; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"xor", "xor.b64 %rd4, %rd1, %rd2; xor.b64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], 1;", "maybe maybe"},
      {"or", "or.b64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 1;", "maybe number"},
      {"lop3",
       "cvt.u32.u64 %r1, %rd1; lop3.b32 %r2, %r1, %r3, %r4, 0x3c; cvt.u64.u32 %rd4, %r2;\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"low bits of one in the other",
       "and.b64 %rd4, %rd2, -4096; and.b64 %rd5, %rd1, 4095; or.b64 %rd6, %rd4, %rd5;\n"
       "st.global.u32 [%rd6], 1;",
       "maybe maybe"},
  };
  expectBodies(cases);
}

/// One answer for the whole launch: there is no number that a kernel could try one value of after another.
TEST(Laundering, PointersAsTheyWerePassedAreCompared) {
  const Case cases[] = {
      {"in place", "setp.eq.s64 %p1, %rd1, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"not in place", "setp.ne.b64 %p1, %rd1, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"before", "setp.lt.u64 %p1, %rd1, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"of the same space",
       "cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; mov.b64 %rd6, %rd5;\n"
       "setp.eq.s64 %p1, %rd4, %rd6; @%p1 ret; st.global.u32 [%rd5], 1;",
       "number written"},
      {"chosen by it",
       "setp.lt.u64 %p1, %rd1, %rd2; selp.b64 %rd4, %rd3, 4, %p1; add.u64 %rd5, %rd2, %rd4;\n"
       "st.global.u32 [%rd5], 1;",
       "number written"},
      {"null", "setp.eq.s64 %p1, %rd1, 0; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"null, the other way round", "setp.ne.s64 %p1, 0, %rd1; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"null, loaded as a vector",
       "ld.param.v2.u64 {%rd8, %rd9}, [p]; setp.eq.s64 %p1, %rd8, 0; @%p1 ret; st.global.u32 [%rd2], 1;",
       "number written"},
      {"shared", "isspacep.shared %p1, %rd1; @%p1 ret; st.global.u32 [%rd2], 1;", "number written"},
      {"a place in it and zero",
       "sub.u64 %rd4, %rd1, %rd3; setp.eq.s64 %p1, %rd4, 0; @%p1 ret; st.global.u32 [%rd2], 1;", "steers written"},
      {"the space of a place in it",
       "add.u64 %rd4, %rd1, %rd3; isspacep.shared %p1, %rd4; @%p1 ret; st.global.u32 [%rd2], 1;", "steers written"},
      {"within a window",
       "cvta.to.shared.u64 %rd4, %rd1; setp.lt.u64 %p1, %rd4, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;",
       "steers written"},
      {"with a number", "setp.lt.u64 %p1, %rd1, %rd3; @%p1 ret; st.global.u32 [%rd2], 1;", "steers written"},
      {"a place in it", "add.u64 %rd4, %rd1, 4; setp.lt.u64 %p1, %rd4, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;",
       "steers written"},
      {"another place", "add.u64 %rd4, %rd1, %rd3; setp.eq.u64 %p1, %rd4, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;",
       "steers written"},
      {"set twice",
       "mov.u64 %rd4, %rd1; add.u64 %rd4, %rd4, %rd3; setp.eq.u64 %p1, %rd4, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;",
       "steers written"},
      {"perhaps not set", "@%p2 mov.u64 %rd4, %rd1; setp.lt.u64 %p1, %rd4, %rd2; @%p1 ret; st.global.u32 [%rd2], 1;",
       "steers written"},
      {"halves",
       "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; setp.eq.u32 %p1, %r1, %r2; @%p1 ret;\n"
       "st.global.u32 [%rd2], 1;",
       "steers written"},
  };
  expectBodies(cases);
}

TEST(Laundering, ShiftsAndPiecesPutTogetherAgain) {
  const Case cases[] = {
      {"shift there and back", "shr.u64 %rd4, %rd1, 8; shl.b64 %rd5, %rd4, 8; st.global.u32 [%rd5], 1;",
       "maybe number"},
      {"nibbles",
       "shr.u64 %rd4, %rd1, 12; and.b64 %rd5, %rd4, 4095; and.b64 %rd6, %rd1, 4095; shl.b64 %rd7, %rd5, 12;\n"
       "or.b64 %rd8, %rd7, %rd6; st.global.u32 [%rd8], 1;",
       "maybe number"},
      {"product", "mul.lo.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 1;", "maybe number"},
      {"product with one", "mul.lo.s64 %rd4, %rd1, 1; st.global.u32 [%rd4], 1;", "maybe number"},
      {"quotient", "div.u64 %rd4, %rd1, 3; mul.lo.s64 %rd4, %rd4, 3; st.global.u32 [%rd4], 1;", "maybe number"},
      {"double", "add.u64 %rd4, %rd1, %rd1; shr.u64 %rd4, %rd4, 1; st.global.u32 [%rd4], 1;", "maybe number"},
      {"bytes",
       "cvt.u32.u64 %r1, %rd1; prmt.b32 %r2, %r1, %r1, 0x3210; cvt.u64.u32 %rd4, %r2; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"halves of two",
       "mov.b64 {%r1, %r2}, %rd1; mov.b64 {%r3, %r4}, %rd2; mov.b64 %rd4, {%r1, %r4};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe maybe"},
      {"halves swapped", "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd4, {%r2, %r1}; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"halves of it", "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd4, {%r1, %r2}; st.global.u32 [%rd4], 1;",
       "written number"},
      {"halves of the first block",
       "mov.b64 {%r1, %r2}, %rd1; @%p1 bra L; mov.b32 %r3, %r1; mov.b64 %rd4, {%r3, %r2}; st.global.u32 [%rd4], 1; L:",
       "written number"},
      {"halves that a path leaves unset",
       "@%p1 bra L; mov.b64 {%r1, %r2}, %rd1; L: mov.b64 %rd4, {%r1, %r2}; st.global.u32 [%rd4], 1;", "maybe number"},
      {"halves of two rounds",
       "@%p1 bra L; L: mov.b64 {%r1, %r2}, %rd1; @%p2 bra M; mov.b32 %r3, %r1;\n"
       "M: mov.b64 %rd4, {%r3, %r2}; st.global.u32 [%rd4], 1; @%p3 bra L;",
       "maybe number"},
      {"a half that is moved in another block",
       "mov.b64 {%r1, %r2}, %rd1; @%p1 bra L; mov.b32 %r3, %r1; L: mov.b64 %rd4, {%r3, %r2};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"halves of it, one changed",
       "mov.b64 {%r1, %r2}, %rd1; add.u32 %r3, %r1, 4; mov.b64 %rd4, {%r3, %r2};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"halves moved by two shuffles",
       "mov.b64 {%r1, %r2}, %rd1; shfl.sync.idx.b32 %r3, %r1, 1, 31, -1;\n"
       "shfl.sync.idx.b32 %r4, %r2, 1, 31, -1; mov.b64 %rd4, {%r3, %r4};\n"
       "st.global.u32 [%rd4], 1;",
       "written number"},
      {"halves from two threads",
       "mov.b64 {%r1, %r2}, %rd1; shfl.sync.idx.b32 %r3, %r1, 1, 31, -1;\n"
       "shfl.sync.idx.b32 %r4, %r2, 2, 31, -1; mov.b64 %rd4, {%r3, %r4};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"halves moved around a call",
       "mov.b64 {%r1, %r2}, %rd1; shfl.sync.idx.b32 %r3, %r1, 1, 31, -1; call f;\n"
       "shfl.sync.idx.b32 %r4, %r2, 1, 31, -1; mov.b64 %rd4, {%r3, %r4};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"only one is moved",
       "mov.b64 {%r1, %r2}, %rd1; shfl.sync.idx.b32 %r3, %r1, 1, 31, -1;\n"
       "mov.b64 %rd4, {%r3, %r2}; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"two values of one register",
       "@%p1 mov.b64 %rd4, %rd1; L: mov.b64 {%r1, %r2}, %rd4; mov.b64 %rd4, %rd2;\n"
       "mov.b64 %rd5, {%r1, %r2}; st.global.u32 [%rd5], 1; @%p2 bra L;",
       "maybe maybe"},
      {"negated twice", "neg.s64 %rd4, %rd1; neg.s64 %rd5, %rd4; st.global.u32 [%rd5], 1;", "written number"},
      {"complement twice", "not.b64 %rd4, %rd1; not.b64 %rd5, %rd4; st.global.u32 [%rd5], 1;", "written number"},
      {"from a complement", "not.b64 %rd4, %rd1; sub.u64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], 1;", "written number"},
      {"floating point", "cvt.rn.f64.u64 %rd4, %rd1; cvt.rzi.u64.f64 %rd5, %rd4; st.global.u32 [%rd5], 1;",
       "maybe number"},
  };
  expectBodies(cases, ".func f() { exit; }\n");
}

TEST(Laundering, AFewBitsChooseAPlaceInAnotherBuffer) {
  const Case cases[] = {
      {"hash",
       "shr.u64 %rd4, %rd1, 4; and.b64 %rd5, %rd4, 255; shl.b64 %rd6, %rd5, 2; add.u64 %rd7, %rd2, %rd6;\n"
       "st.global.u32 [%rd7], 1;",
       "number written"},
      {"hash of 13 bits",
       "shr.u64 %rd4, %rd1, 4; and.b64 %rd5, %rd4, 8191; add.u64 %rd7, %rd2, %rd5;\n"
       "st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"two hashes",
       "shr.u64 %rd4, %rd1, 4; and.b64 %rd5, %rd4, 255; shr.u64 %rd6, %rd1, 12; and.b64 %rd7, %rd6, 255;\n"
       "add.u64 %rd8, %rd5, %rd7; add.u64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], 1;",
       "maybe written"},
      {"hash of a structure's size",
       "bfe.u64 %rd4, %rd1, 9, 10; mad.lo.s64 %rd5, %rd4, 24, %rd2; st.global.u32 [%rd5+8], 1;", "number written"},
      {"hash in 32 bits",
       "shr.u64 %rd4, %rd1, 4; cvt.u32.u64 %r1, %rd4; xor.b32 %r1, %r1, %r2; and.b32 %r3, %r1, 1023;\n"
       "mul.wide.u32 %rd5, %r3, 16; add.s64 %rd6, %rd5, %rd3; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "number written"},
      {"from the end of a table", "bfe.u64 %rd4, %rd1, 9, 10; sub.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5-4], 1;",
       "number written"},
      {"remainder",
       "rem.u64 %rd4, %rd1, 1021; shl.b64 %rd5, %rd4, 5; add.u64 %rd5, %rd5, %rd2; st.global.u32 [%rd5], 1;",
       "number written"},
      {"two hashes one after the other",
       "bfe.u64 %rd4, %rd1, 9, 10; xor.b64 %rd5, %rd4, %rd1; and.b64 %rd6, %rd5, 4092; add.u64 %rd7, %rd2, %rd6;\n"
       "st.global.u32 [%rd7], 1;",
       "number written"},
      {"hash of the distance of two",
       "sub.u64 %rd4, %rd1, %rd2; bfe.u64 %rd5, %rd4, 9, 10; add.u64 %rd6, %rd5, %rd3; st.global.u32 [%rd6], 1;",
       "maybe maybe"},
      {"times a number", "bfe.u64 %rd4, %rd1, 9, 10; mad.lo.s64 %rd5, %rd4, %rd3, %rd2; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"times too much", "bfe.u64 %rd4, %rd1, 9, 10; mad.lo.s64 %rd5, %rd4, 33, %rd2; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"scaled twice",
       "bfe.u64 %rd4, %rd1, 9, 10; shl.b64 %rd5, %rd4, 5; shl.b64 %rd5, %rd5, 5; add.u64 %rd5, %rd2, %rd5;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"shifted by a number",
       "bfe.u64 %rd4, %rd1, 9, 10; shl.b64 %rd5, %rd4, %r1; add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"a number under a hash",
       "bfe.u64 %rd4, %rd1, 9, 10; and.b64 %rd5, %rd3, %rd4; add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"around 2^32",
       "bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; add.s32 %r2, %r1, %r3; mul.wide.u32 %rd5, %r2, 4;\n"
       "add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"below zero in 32 bits",
       "bfe.s64 %rd4, %rd1, 9, 10; cvt.u32.s64 %r1, %rd4; cvt.u64.u32 %rd5, %r1; add.u64 %rd5, %rd2, %rd5;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"a byte with a sign",
       "shr.u64 %rd4, %rd1, 9; cvt.s32.s8 %r1, %rd4; cvt.u64.u32 %rd5, %r1; add.u64 %rd5, %rd2, %rd5;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"a byte", "shr.u64 %rd4, %rd1, 9; cvt.u64.u8 %rd5, %rd4; add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "number written"},
      {"a byte of a hash, stored and loaded with a sign",
       ".local .b8 v[4]; bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; st.local.u8 [v], %r1; ld.local.s8 %r2, "
       "[v];\n"
       "cvt.u64.u32 %rd5, %r2; add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"a hash, stored and loaded",
       ".local .b8 v[4]; bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; st.local.u32 [v], %r1; ld.local.u32 %r2, "
       "[v];\n"
       "mul.wide.u32 %rd5, %r2, 4; add.u64 %rd5, %rd2, %rd5; st.global.u32 [%rd5], 1;",
       "number written"},
      {"its low bits changed, round by round",
       "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; L: xor.b64 %rd5, %rd5, 255; add.u64 %rd5, %rd5, 255;\n"
       "@%p1 bra L; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"added round by round",
       "mov.u64 %rd5, %rd2; L: bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd5, %rd4; @%p1 bra L;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"an atomic", "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; atom.global.add.u32 %r1, [%rd5], 1;",
       "number written"},
      {"of the buffer itself", "bfe.u64 %rd4, %rd2, 9, 10; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "number maybe"},
      {"beside a part",
       "bfe.u64 %rd4, %rd1, 9, 10; and.b64 %rd5, %rd2, -4096; add.u64 %rd5, %rd5, %rd4;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe maybe"},
      {"in either of two",
       "bfe.u64 %rd4, %rd1, 9, 10; selp.b64 %rd5, %rd1, %rd2, %p1; add.u64 %rd5, %rd5, %rd4;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe maybe"},
      {"what stands there is looked at",
       "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1; ld.global.u32 %r1, [%rd2];\n"
       "setp.eq.u32 %p1, %r1, 1; @%p1 bra L; ld.global.u32 %r2, [%rd2]; L:",
       "steers written"},
      {"what stands there is an index",
       "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1; ld.global.u64 %rd6, [%rd2];\n"
       "add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"the few bits are stored", "bfe.u64 %rd4, %rd1, 9, 10; st.global.u64 [%rd2], %rd4;", "number written"},
      {"the few bits are stored and loaded",
       "bfe.u64 %rd4, %rd1, 9, 10; st.global.u64 [%rd2], %rd4; ld.global.u64 %rd6, [%rd2+8];\n"
       "add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"low bits go everywhere",
       "and.b64 %rd4, %rd1, 255; st.global.u64 [%rd2], %rd4; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;\n"
       "setp.lt.u64 %p1, %rd4, 16; @%p1 bra L; ld.global.u32 %r2, [%rd1]; L:",
       "read written"},
      {"read at a place of its own",
       "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; ld.global.u64 %rd6, [%rd5];\n"
       "add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"two places of a table",
       "bfe.u64 %rd4, %rd1, 9, 10; add.u64 %rd5, %rd2, %rd4; ld.global.u64 %rd6, [%rd5];\n"
       "bfe.u64 %rd4, %rd1, 19, 10; add.u64 %rd5, %rd2, %rd4; ld.global.u64 %rd7, [%rd5];\n"
       "add.u64 %rd8, %rd6, %rd7; add.u64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], 1;",
       "maybe written"},
      {"a table looked up by all of it",
       "mul.lo.s64 %rd4, %rd1, 5; add.u64 %rd5, %rd2, %rd4; ld.global.u64 %rd6, [%rd5];\n"
       "add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"aligned down and read",
       "and.b64 %rd4, %rd1, -16; ld.global.u64 %rd6, [%rd4]; add.u64 %rd7, %rd2, %rd6;\n"
       "st.global.u64 [%rd7], %rd6;",
       "read written"},
  };
  expectBodies(cases);
}

} // namespace
} // namespace tenon::linker
