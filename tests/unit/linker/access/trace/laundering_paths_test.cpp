// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways of a pointer around what is computed: through branches and predicates, private memory, parameters and calls, as
// in laundering_test.cpp.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

using Case = testing::BodyCase;
using testing::body;
using testing::expectBodies;

TEST(LaunderingPaths, PathsAndPredicatesTellBits) {
  const Case cases[] = {
      {"null", "setp.eq.s64 %p1, %rd1, 0; @%p1 bra L; ld.global.u32 %r1, [%rd1]; L:", "read number"},
      {"end of a range",
       "add.u64 %rd4, %rd1, %rd3; L: ld.global.u32 %r1, [%rd1]; add.u64 %rd1, %rd1, 4;\n"
       "setp.ne.u64 %p1, %rd1, %rd4; @%p1 bra L;",
       "read number"},
      {"wrapping around", "sub.u64 %rd4, %rd1, %rd3; setp.lt.u64 %p1, %rd4, %rd1; @%p1 bra L; L:", "steers number"},
      {"the lesser of it and itself",
       "sub.u64 %rd4, %rd1, %rd3; min.u64 %rd5, %rd4, %rd1; setp.eq.u64 %p1, %rd5, %rd4; @%p1 bra L; L:",
       "steers number"},
      {"what was never set",
       "sub.u64 %rd4, %rd40, %rd1; sub.u64 %rd5, 0, %rd4; @%p1 bra L; mov.u64 %rd40, %rd1; L: st.global.u32 [%rd5], "
       "1;\n"
       "@%p2 bra L;",
       "written number"},
      {"what a path does not set",
       "@%p1 bra L; mov.u64 %rd40, %rd1; L: sub.u64 %rd4, %rd40, %rd1; sub.u64 %rd5, 0, %rd4; st.global.u32 [%rd5], 1;",
       "written number"},
      {"what a guard does not set",
       "@%p1 mov.u64 %rd40, %rd1; sub.u64 %rd4, %rd40, %rd1; sub.u64 %rd5, 0, %rd4; st.global.u32 [%rd5], 1;",
       "written number"},
      {"what every path sets",
       "@%p1 bra L; mov.u64 %rd40, %rd1; bra M; L: add.u64 %rd40, %rd1, 4; M: sub.u64 %rd4, %rd40, %rd1;\n"
       "add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "number written"},
      {"what a loop sets behind its read",
       "L: sub.u64 %rd4, %rd40, %rd1; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1; mov.u64 %rd40, %rd1;\n"
       "@%p1 bra L;",
       "maybe written"},
      {"aligned together",
       "or.b64 %rd4, %rd1, %rd2; and.b64 %rd4, %rd4, 15; setp.ne.s64 %p1, %rd4, 0; @%p1 bra L;\n"
       "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]; L:",
       "read number"},
      {"low bits",
       "cvt.u32.u64 %r1, %rd1; and.b32 %r1, %r1, 255; setp.lt.u32 %p1, %r1, 8; @%p1 bra L; L:", "number number"},
      {"a bit above", "and.b64 %rd4, %rd1, 256; setp.ne.s64 %p1, %rd4, 0; @%p1 bra L; L:", "steers number"},
      {"against a number", "setp.lt.u64 %p1, %rd1, %rd3; @%p1 bra L; L:", "steers number"},
      {"against another", "add.u64 %rd4, %rd1, %rd3; setp.eq.u64 %p1, %rd4, %rd2; @%p1 bra L; L:", "steers steers"},
      {"through combined predicates",
       "setp.lt.u64 %p1, %rd1, %rd3; and.pred %p2, %p1, %p3; @!%p2 bra L; L:", "steers number"},
      {"in a setp", "setp.lt.u64 %p1, %rd1, %rd3; setp.lt.and.s32 %p2, %r1, %r2, %p1; @%p2 bra L; L:", "steers number"},
      {"the second result", "setp.lt.u64 %p1|%p2, %rd1, %rd3; @%p2 bra L; L:", "steers number"},
      {"guarded store", "setp.lt.u64 %p1, %rd1, %rd3; @%p1 st.global.u32 [%rd2], 1;", "steers written"},
      {"guarded sum", "setp.lt.u64 %p1, %rd1, %rd3; @%p1 add.u64 %rd4, %rd3, 1;", "steers number"},
      {"guarded exit", "setp.lt.u64 %p1, %rd1, %rd3; @%p1 exit;", "steers number"},
      {"choice",
       "setp.lt.u64 %p1, %rd1, %rd3; selp.b64 %rd4, 8, 16, %p1; add.u64 %rd5, %rd2, %rd4;\n"
       "st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"a guess, or a harmless place",
       "setp.eq.u64 %p1, %rd1, %rd3; selp.b64 %rd4, %rd3, %rd5, %p1; st.global.u32 [%rd4], 1;", "maybe number"},
      {"a guess, or thread-private memory",
       ".local .b8 v[4]; mov.u64 %rd4, v; cvta.local.u64 %rd5, %rd4; setp.eq.u64 %p1, %rd1, %rd3;\n"
       "sub.u64 %rd6, %rd3, %rd5; selp.b64 %rd7, %rd6, 0, %p1; add.u64 %rd8, %rd5, %rd7; st.u32 [%rd8], 1;",
       "maybe number"},
      {"a distance from thread-private memory",
       ".local .b8 v[4]; mov.u64 %rd4, v; cvta.local.u64 %rd5, %rd4; setp.eq.u64 %p1, %rd1, %rd3;\n"
       "selp.b64 %rd7, %rd6, 0, %p1; add.u64 %rd8, %rd5, %rd7; st.u32 [%rd8], 1;",
       "maybe number"},
      {"a distance from thread-private memory that was stored and loaded",
       ".local .b8 v[4]; mov.u64 %rd4, v; cvta.local.u64 %rd5, %rd4; setp.eq.u64 %p1, %rd1, %rd3;\n"
       "selp.b64 %rd7, %rd6, 0, %p1; st.global.u64 [%rd2], %rd7; ld.global.u64 %rd8, [%rd2];\n"
       "add.u64 %rd8, %rd5, %rd8; st.u32 [%rd8], 1;",
       "maybe written"},
      {"a hash index in thread-private memory",
       ".local .b8 v[400]; mov.u64 %rd4, v; cvta.local.u64 %rd5, %rd4; bfe.u64 %rd6, %rd1, 9, 8;\n"
       "add.u64 %rd8, %rd5, %rd6; st.u32 [%rd8], 1;",
       "number number"},
      {"a guess by arithmetic",
       "xor.b64 %rd4, %rd1, %rd3; neg.s64 %rd5, %rd4; or.b64 %rd6, %rd4, %rd5; shr.u64 %rd6, %rd6, 63;\n"
       "mad.lo.s64 %rd7, %rd6, %rd5, %rd2; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"a guess by counting bits",
       "xor.b64 %rd4, %rd1, %rd3; popc.b64 %r1, %rd4; set.eq.u32.u32 %r2, %r1, 0; cvt.s64.s32 %rd5, %r2;\n"
       "and.b64 %rd6, %rd5, %rd7; add.u64 %rd6, %rd6, %rd2; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"how much is copied",
       "setp.eq.u64 %p1, %rd1, %rd3; selp.b32 %r1, 16, 0, %p1;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], %r1;",
       "steers written"},
      {"which bytes are copied",
       "setp.eq.u64 %p1, %rd1, %rd3; selp.b32 %r1, -1, 0, %p1;\n"
       "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [%r2], 16, %r1;",
       "steers written"},
      {"where a copy comes from",
       "bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; add.u32 %r1, %r1, %r2;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16; ld.global.u64 %rd5, [%rd2];\n"
       "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"who is elected",
       "bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; elect.sync %r2|%p1, %r1; cvt.u64.u32 %rd5, %r2;\n"
       "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"who of all is elected", "elect.sync %r2|%p1, -1; @%p1 st.global.u32 [%rd2], 1;", "number written"},
      {"how large a frame is", "bfe.u64 %rd4, %rd1, 9, 10; alloca.u64 %rd5, %rd4;", "steers number"},
      {"where the stack goes on", "bfe.u64 %rd4, %rd1, 9, 10; stackrestore.u64 %rd4;", "steers number"},
      {"a cluster's number",
       ".reg .b128 %rq1; mov.b128 %rq1, {%rd1, %rd3}; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 "
       "%r1, %rq1;\n"
       "cvt.u64.u32 %rd4, %r1; add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"many choices",
       "setp.lt.u64 %p1, %rd1, %rd3; selp.b64 %rd4, 8, 16, %p1; setp.lt.u64 %p2, %rd1, %rd5;\n"
       "selp.b64 %rd6, %rd4, 0, %p2; add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], 1;",
       "maybe written"},
      {"choice of two", "setp.lt.u64 %p1, %rd1, %rd2; selp.b64 %rd4, %rd1, %rd2, %p1; ld.global.u32 %r1, [%rd4];",
       "read read"},
      {"the lesser",
       "min.u64 %rd4, %rd1, %rd2; sub.u64 %rd5, %rd4, %rd2; add.u64 %rd6, %rd2, %rd5;\n"
       "st.global.u32 [%rd6], 1;",
       "maybe maybe"},
      {"ballot",
       "setp.lt.u64 %p1, %rd1, %rd3; vote.sync.ballot.b32 %r1, %p1, -1; cvt.u64.u32 %rd4, %r1;\n"
       "add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"any", "setp.lt.u64 %p1, %rd1, %rd3; vote.sync.any.pred %p2, %p1, -1; @%p2 bra L; L:", "steers number"},
      {"match",
       "bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; match.any.sync.b32 %r2, %r1, -1; cvt.u64.u32 %rd5, %r2;\n"
       "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"redux",
       "bfe.u64 %rd4, %rd1, 9, 10; cvt.u32.u64 %r1, %rd4; redux.sync.add.s32 %r2, %r1, -1; cvt.u64.u32 %rd5, %r2;\n"
       "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"barrier",
       "setp.lt.u64 %p1, %rd1, %rd3; barrier.cta.red.popc.aligned.u32 %r1, 0, %p1; cvt.u64.u32 %rd4, %r1;\n"
       "add.u64 %rd5, %rd2, %rd4; st.global.u32 [%rd5], 1;",
       "maybe written"},
      {"lane of a shuffle",
       "bfe.u64 %rd4, %rd1, 9, 5; cvt.u32.u64 %r1, %rd4; shfl.sync.idx.b32 %r2, %r3, %r1, 31, -1;\n"
       "cvt.u64.u32 %rd5, %r2; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"lane and value of a shuffle",
       "bfe.u64 %rd4, %rd1, 9, 5; cvt.u32.u64 %r1, %rd4; shfl.sync.idx.b32 %r2, %r1, %r1, 31, -1;\n"
       "cvt.u64.u32 %rd5, %r2; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"table of labels",
       "bfe.u64 %rd4, %rd1, 9, 1; cvt.u32.u64 %r1, %rd4; T: .branchtargets A, B;\n"
       "brx.idx %r1, T; A: ret; B:",
       "steers number"},
      {"carry",
       "cvt.u32.u64 %r1, %rd1; add.cc.u32 %r2, %r1, %r3; addc.u32 %r4, 0, 0; setp.ne.s32 %p1, %r4, 0;\n"
       "@%p1 bra L; L:",
       "steers number"},
      {"carry of numbers",
       "add.cc.u32 %r2, %r1, %r3; addc.u32 %r4, 0, 0; setp.ne.s32 %p1, %r4, 0; @%p1 bra L; L:", "number number"},
      {"borrow", "sub.cc.u64 %rd4, %rd1, %rd3; subc.u64 %rd5, 0, 0; add.u64 %rd6, %rd5, %rd2; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"barrier counts",
       "bfe.u64 %rd4, %rd1, 9, 5; cvt.u32.u64 %r1, %rd4; .shared .b64 b;\n"
       "mbarrier.arrive.shared.b64 %rd5, [b], %r1;",
       "steers number"},
      {"loaded value",
       "ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 7; @%p1 bra L; ld.global.u32 %r2, [%rd2]; L:", "read read"},
      {"space", "isspacep.shared %p1, %rd1; @%p1 bra L; ld.u32 %r1, [%rd1]; L:", "read number"},
      {"called through a register", "bfe.u64 %rd4, %rd1, 9, 10; P: .callprototype _ (); call %rd4, (), P;",
       "steers number"},
  };
  expectBodies(cases);
}

TEST(LaunderingPaths, PrivateMemoryHoldsPieces) {
  constexpr std::string_view kShared = ".shared .align 8 .b8 s[32]; ";
  const Case cases[] = {
      {"struct",
       "st.shared.u64 [s], %rd1; st.shared.u64 [s+8], %rd2; st.shared.u32 [s+16], 1; ld.shared.u64 %rd4, [s];\n"
       "ld.shared.u64 %rd5, [s+8]; ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd5], %r1;",
       "read written"},
      {"a place that a path leaves unset",
       ".shared .align 8 .b8 t[8]; .shared .align 8 .b8 u[8]; st.shared.u64 [t], %rd1; mov.u32 %r1, u; @%p1 bra L;\n"
       "add.u32 %r2, %r1, 0; L: ld.shared.u64 %rd4, [%r2]; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"a place that every path knows",
       ".shared .align 8 .b8 t[8]; .shared .align 8 .b8 u[8]; st.shared.u64 [t], %rd1; mov.u32 %r1, u;\n"
       "add.u32 %r2, %r1, 0; @%p1 bra L; L: ld.shared.u64 %rd4, [%r2]; st.global.u32 [%rd4], 1;",
       "number number"},
      {"halves", "st.shared.u64 [s], %rd1; ld.shared.u32 %r1, [s]; cvt.u64.u32 %rd4, %r1; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"upper half",
       "st.shared.u64 [s], %rd1; ld.shared.u32 %r1, [s+4]; cvt.u64.u32 %rd4, %r1; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"across", "st.shared.u64 [s+8], %rd1; ld.shared.u64 %rd4, [s+4]; st.global.u32 [%rd4], 1;", "maybe number"},
      {"beyond", "st.shared.u64 [s+8], %rd1; .shared .b64 t; ld.shared.u64 %rd4, [t+8]; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"index",
       "st.shared.u64 [s+8], %rd1; mov.u32 %r1, s; add.u32 %r1, %r1, %r2; ld.shared.u64 %rd4, [%r1];\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"atomic", "atom.shared.exch.b64 %rd4, [s], %rd1; ld.shared.u64 %rd5, [s]; st.global.u32 [%rd5], 1;",
       "maybe number"},
      {"result of an atomic", "st.shared.u64 [s], %rd1; atom.shared.exch.b64 %rd4, [s], %rd3; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"atomic or of a few",
       "bfe.u64 %rd4, %rd1, 9, 10; red.shared.or.b64 [s], %rd4; ld.shared.u64 %rd5, [s];\n"
       "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], 1;",
       "maybe written"},
      {"matrix",
       "cvt.u32.u64 %r1, %rd1; mov.u32 %r2, s; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};\n"
       "ld.shared.u64 %rd4, [s]; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"place by a few",
       "bfe.u64 %rd4, %rd1, 9, 4; cvt.u32.u64 %r1, %rd4; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;\n"
       "st.shared.u8 [%r3], 1; ld.shared.u32 %r4, [s]; setp.ne.s32 %p1, %r4, 0; @%p1 bra L; L:",
       "steers number"},
      {"copied on",
       "st.shared.v2.u64 [s], {%rd1, %rd1}; .shared .align 16 .b8 t[16]; mov.u32 %r1, t; mov.u32 %r2, s;\n"
       "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];\n"
       "ld.shared.u64 %rd4, [t]; st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"copied out",
       "st.shared.u64 [s], %rd1; mov.u32 %r2, s;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 16;",
       "stored written"},
      {"stored through a map",
       "st.shared.u64 [s], %rd1; mov.u32 %r2, s;\n"
       "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r1}], [%r2];",
       "stored read"},
      {"tensor memory",
       "mov.b64 {%r1, %r2}, %rd1; tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5], {%r1, %r2};\n"
       "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r5]; mov.b64 %rd4, {%r3, %r4};\n"
       "st.global.u32 [%rd4], 1;",
       "maybe number"},
      {"histogram",
       "ld.global.u32 %r1, [%rd1]; mov.u32 %r2, s; add.u32 %r3, %r2, %r1; cvt.u64.u32 %rd4, %r3;\n"
       "cvta.shared.u64 %rd5, %rd4; atom.add.u32 %r4, [%rd5], 1; ld.shared.u32 %r5, [s];\n"
       "red.global.add.u32 [%rd2], %r5;",
       "read written"},
  };
  for (const Case &row : cases)
    EXPECT_EQ(body(std::string(kShared).append(row.text)), row.words) << row.name;
}

TEST(LaunderingPaths, ParametersHaveNeighbours) {
  const Case cases[] = {
      {"behind a parameter", "ld.param.u64 %rd4, [q+-8]; st.global.u32 [%rd4], 1;", "maybe maybe"},
      {"upper half", "ld.param.u32 %r1, [p+4]; cvt.u64.u32 %rd4, %r1; st.global.u32 [%rd4], 1;", "maybe number"},
      {"two at once", "ld.param.v2.u64 {%rd4, %rd5}, [p]; st.global.u32 [%rd5], 1;", "maybe maybe"},
      {"by its address", "mov.b64 %rd4, p; ld.param.u64 %rd5, [%rd4]; st.global.u32 [%rd5], 1;", "written number"},
      {"a neighbour by its address",
       "mov.b64 %rd4, q; add.u64 %rd4, %rd4, %rd3; ld.param.u64 %rd5, [%rd4];\n"
       "st.global.u32 [%rd5], 1;",
       "maybe maybe"},
      {"by a number", "cvta.param.u64 %rd4, %rd40; ld.u64 %rd5, [%rd4]; st.global.u32 [%rd5], 1;", "maybe maybe"},
      {"a pointer from memory leads to none",
       "ld.global.u64 %rd4, [%rd1]; ld.u32 %r1, [%rd4]; st.global.u32 [%rd2], %r1;", "read written"},
  };
  expectBodies(cases);
}

TEST(LaunderingPaths, CallsHandOnWhatTheyAreGiven) {
  const std::string unknown = "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %rd1; call (r), other, (a);\n"
                              "ld.param.b64 %rd4, [r]; } st.global.u32 [%rd4], 1;";
  EXPECT_EQ(body(unknown, ".extern .func (.param .b64 r) other(.param .b64 a);\n"), "maybe number");
  EXPECT_EQ(body("st.global.u32 [%rd2], 1; { .param .b64 a; st.param.b64 [a], %rd1; call f, (a); }",
                 ".func f(.reg .b64 a) { st.global.u32 [a], 1; ret; }\n"),
            "passed written")
      << "parameters in registers are not followed";
  const std::string blank = "{ .param .b64 a; st.param.b64 [a], %rd1; call f, (a); }\n"
                            "{ .param .b64 r; call (r), g, (); ld.param.b64 %rd4, [r]; } st.global.u32 [%rd4], 1;";
  EXPECT_EQ(body(blank, ".func f(.param .b64 a) { .local .b64 v; .reg .b64 %rd<2>; ld.param.b64 %rd1, [a];\n"
                        "st.local.b64 [v], %rd1; ret; }\n.func (.param .b64 r) g() { .local .b64 w; .reg .b64 %rd<2>;\n"
                        "ld.local.b64 %rd1, [w]; st.param.b64 [r], %rd1; ret; }\n"),
            "written number")
      << "what another function left on the stack";
  EXPECT_EQ(body(blank, ".func f(.param .b64 a) { ret; }\n.func (.param .b64 r) g() { ret; }\n"), "maybe maybe")
      << "what another call left in a result";
}

} // namespace
} // namespace tenon::linker
