// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in private memory, and what touches it.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

struct Case {
  std::string_view body;
  std::vector<std::string> lines;
};

void expectAll(std::span<const Case> cases, std::string_view before = "") {
  for (const Case &row : cases)
    EXPECT_EQ(testing::detailsOf(row.body, before), row.lines) << row.body;
}

TEST(TraceMemory, PrivateMemoryGivesBackWhatWasStored) {
  const Case cases[] = {
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; ld.local.u64 %rd9, [d+8]; st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d+8], %rd1; ld.local.u64 %rd9, [d+16]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d+16], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d+-8], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; ld.local.u64 %rd9, [d+12]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u32 [d], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@5", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; ld.local.u32 %r9, [d]; cvt.u64.u32 %rd9, %r9; st.global.u32 "
       "[%rd9], 1;",
       {"a: named addressed maybe@6", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; .local .align 8 .b8 e[16]; st.local.u64 [d], %rd1; ld.local.u64 %rd9, [e]; "
       "st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; .local .align 8 .b8 e[16]; st.local.u64 [d], %rd1; ld.local.u64 %rd9, [e+16]; "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd8, d; add.u64 %rd8, %rd8, %rd7; st.local.u64 [%rd8], %rd1; ld.local.u64 "
       "%rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@7", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd8, d; add.u64 %rd8, %rd8, %rd7; st.local.u32 [%rd8], %r1; st.local.u64 "
       "[d], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed joint maybe@8", "b: named", "n: named joint", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd8, d; add.u64 %rd8, %rd8, %rd7; st.local.u64 [%rd8], %rd6; st.local.u64 "
       "[d], %rd1; ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@8", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd8, d; st.global.u64 [%rd2], %rd8; st.local.u64 [d], %rd1;",
       {"a: named addressed stored@4", "b: named addressed sole written@4", "n: named"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd8, d; cvta.local.u64 %rd8, %rd8; add.u64 %rd8, %rd8, %rd7; st.u64 "
       "[%rd8], %rd1; ld.u64 %rd9, [%rd8]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@8", "b: named", "n: named"}},
      {".shared .align 8 .b8 s[16]; ld.shared.u64 %rd9, [s]; st.global.u32 [%rd9], 1; st.shared.u64 [s], %rd1;",
       {"a: named addressed sole written@4", "b: named", "n: named"}},
      {".shared .align 8 .b8 s[16]; L: ld.shared.u64 %rd9, [s]; st.global.u32 [%rd9], 1; st.shared.u64 [s], %rd1; @%p1 "
       "bra L;",
       {"a: named addressed sole written@4", "b: named", "n: named"}},
      {"st.shared.u64 [%r2], %rd1; ld.shared.u64 %rd9, [%r2]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@5", "b: named", "n: named", "kernel: elsewhere"}},
      {"ld.shared.u64 %rd9, [%r2]; st.global.u32 [%rd9], 1; st.shared.u64 [%r2], %rd1;",
       {"a: named addressed sole maybe@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"st.shared.u64 [%r2], %rd1; ld.global.u64 %rd8, [%rd2]; ld.u64 %rd9, [%rd8]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@6", "b: named addressed sole", "n: named", "kernel: elsewhere"}},
      {"ld.global.u64 %rd8, [%rd2]; st.u64 [%rd8], %rd1; ld.shared.u64 %rd9, [%r2]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@6 stored@4", "b: named addressed sole", "n: named", "kernel: elsewhere"}},
      {"bfe.u64 %rd8, %rd1, 9, 4; cvt.u32.u64 %r8, %rd8; st.shared.u32 [%r8], 1; ld.shared.u32 %r9, [%r2]; setp.ne.s32 "
       "%p1, %r9, 0; @%p1 bra L; L:",
       {"a: named steers@8", "b: named", "n: named"}},
      {"cvt.u32.u64 %r8, %rd1; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd2], %r9;",
       {"a: named addressed stored@5", "b: named addressed sole written@5", "n: named"}},
      {"atom.shared.exch.b64 %rd9, [%r2], %rd1; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; atom.shared.or.b64 %rd9, [%r2], %rd8; add.u64 %rd9, %rd9, %rd2; st.global.u32 "
       "[%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed sole written@6", "n: named"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; st.shared.u64 [%r2], %rd8; ld.shared.u64 %rd9, [%r2]; add.u64 %rd9, %rd9, %rd2; "
       "st.global.u32 [%rd9], 1;",
       {"a: named maybe@7", "b: named addressed sole written@7", "n: named"}},
  };
  expectAll(cases);
}

TEST(TraceMemory, ParametersHaveAddresses) {
  const Case cases[] = {
      {"mov.b64 %rd9, a; ld.param.u64 %rd8, [%rd9+8]; st.global.u32 [%rd8], 1;",
       {"a: named addressed joint maybe@5", "b: named addressed joint maybe@5", "n: named joint", "kernel: elsewhere"}},
      {"mov.b64 %rd9, a; add.u64 %rd9, %rd9, %rd7; ld.param.u64 %rd8, [%rd9]; st.global.u32 [%rd8], 1;",
       {"a: named addressed joint maybe@6", "b: named addressed joint maybe@6", "n: named joint", "kernel: elsewhere"}},
      {"mov.b64 %rd9, a; cvta.param.u64 %rd8, %rd9; st.global.u64 [%rd2], %rd8;",
       {"a: named addressed stored@5", "b: named addressed sole written@5 stored@5", "n: named"}},
      {"mov.b64 %rd9, a; cvta.param.u64 %rd8, %rd9; st.global.u64 [%rd2], %rd8; ld.global.u64 %rd7, [%rd2]; ld.u64 "
       "%rd6, [%rd7]; st.global.u32 [%rd6], 1;",
       {"a: named addressed joint maybe@8 stored@5", "b: named addressed sole joint written@5 maybe@8 stored@5",
        "n: named joint", "kernel: elsewhere"}},
      {"ld.global.u64 %rd7, [%rd2]; ld.u64 %rd6, [%rd7]; st.global.u32 [%rd6], 1;",
       {"a: named", "b: named addressed sole", "n: named", "kernel: elsewhere"}},
      {"st.param.u64 [a], %rd2; ld.param.u64 %rd9, [a]; st.global.u32 [%rd9], 1;",
       {"a: named addressed joint maybe@5", "b: named addressed joint maybe@5", "n: named", "kernel: elsewhere"}},
      {"st.param.u64 [a], %rd2; ld.param.u64 %rd9, [b+8]; st.global.u32 [%rd9], 1;",
       {"a: named addressed joint maybe@5", "b: named addressed joint maybe@5", "n: named joint", "kernel: elsewhere"}},
      {"st.param.u32 [a], %r1; ld.param.u64 %rd9, [a]; st.global.u32 [%rd9], 1;",
       {"a: named addressed joint maybe@5", "b: named", "n: named joint", "kernel: elsewhere"}},
  };
  expectAll(cases);
}

TEST(TraceMemory, CopiesGoThroughSharedMemory) {
  const Case cases[] = {
      {"cp.async.ca.shared.global [%r2], [%rd1], 8; ld.shared.u64 %rd9, [%r2]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole", "b: named", "n: named", "kernel: elsewhere"}},
      {"cp.async.cg.shared.global [%r2], [%rd1], 16;", {"a: named addressed sole widest=16@3", "b: named", "n: named"}},
      {"shr.u64 %rd8, %rd1, 4; cp.async.ca.shared.global [%r2], [%rd8], 8; ld.shared.u64 %rd9, [%r2]; add.u64 %rd9, "
       "%rd9, %rd2; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@7", "b: named addressed sole written@7", "n: named"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; cvt.u32.u64 %r8, %rd8; cp.async.ca.shared.global [%r2], [%rd2], 8, %r8; "
       "ld.shared.u64 %rd9, [%r2]; add.u64 %rd9, %rd9, %rd2; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@8", "b: named addressed sole written@8", "n: named"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; cvt.u32.u64 %r8, %rd8; cp.async.ca.shared.global [%r8], [%rd2], 8; ld.shared.u64 "
       "%rd9, [%r2]; add.u64 %rd9, %rd9, %rd2; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@8", "b: named addressed sole written@8", "n: named"}},
      {"st.shared.u64 [%r2], %rd1; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], "
       "[%r3], 16, [%r4]; ld.shared.u64 %rd9, [%r2]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@6", "b: named", "n: named", "kernel: elsewhere"}},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;",
       {"a: named addressed sole written@3 widest=16@3", "b: named", "n: named"}},
      {"st.shared.u64 [%r2], %rd1; cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 16;",
       {"a: named addressed stored@4", "b: named addressed sole written@4 widest=16@4", "n: named"}},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
       {"a: named addressed sole", "b: named", "n: named", "kernel: elsewhere map@3"}},
      {"st.shared.u64 [%r2], %rd2; cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
       {"a: named addressed sole", "b: named addressed stored@4", "n: named", "kernel: elsewhere map@4"}},
      {".local .align 64 .b8 m[128]; mov.u64 %rd9, m; cvta.local.u64 %rd9, %rd9; st.u64 [%rd9], %rd1; "
       "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd9, {%r1}], [%r2];",
       {"a: named addressed maybe@6", "b: named", "n: named", "kernel: elsewhere map@6"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; cvt.u32.u64 %r8, %rd8; cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, "
       "{%r8}], [%r2];",
       {"a: named maybe@5", "b: named addressed sole", "n: named", "kernel: elsewhere map@5"}},
      {"sust.b.1d.b32.trap [%rd1, {%r1}], %r2;",
       {"a: named addressed sole", "b: named", "n: named", "kernel: elsewhere map@3"}},
  };
  expectAll(cases);
}

TEST(TraceMemory, TensorMemoryAndProductsHoldWhatWasPutThere) {
  const Case cases[] = {
      {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1}; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r2]; "
       "st.global.u32 [%rd2], %r9;",
       {"a: named", "b: named addressed sole written@5", "n: named"}},
      {"cvt.u32.u64 %r8, %rd1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r8}; "
       "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r2]; cvt.u64.u32 %rd9, %r9; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@7", "b: named", "n: named", "kernel: elsewhere"}},
      {"L: tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r2]; cvt.u64.u32 %rd9, %r9; st.global.u32 [%rd9], 1; "
       "cvt.u32.u64 %r8, %rd1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r8}; @%p1 bra L;",
       {"a: named addressed maybe@5", "b: named", "n: named", "kernel: elsewhere"}},
      {"st.shared.u64 [%r2], %rd1; tcgen05.cp.cta_group::1.128x256b [%r3], %rd7; tcgen05.ld.sync.aligned.32x32b.x1.b32 "
       "{%r9}, [%r2]; cvt.u64.u32 %rd9, %r9; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@7", "b: named", "n: named", "kernel: elsewhere"}},
      {"st.shared.u64 [%r2], %rd1; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd7, %rd8, "
       "1, 1, 1, 0, 0; cvt.rzi.u64.f32 %rd9, %f1; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named", "n: named", "kernel: elsewhere"}},
  };
  expectAll(cases);
}

TEST(TraceMemory, WhatNobodyKnowsMayDoAnything) {
  const Case cases[] = {
      {"frobnicate.global.u32 %r9, [%rd1], %rd2; cvt.u64.u32 %rd9, %r9; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@5 passed@3", "b: named addressed maybe@5 passed@3", "n: named", "kernel: elsewhere"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; frobnicate.global.u32 %r9, [%rd8];",
       {"a: named addressed passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd9, d; st.local.u64 [d], %rd1; frobnicate.u32 [%rd9];",
       {"a: named addressed passed@5", "b: named", "n: named", "kernel: elsewhere"}},
  };
  expectAll(cases);
}

/// Copies within shared memory move 16 bytes at a time: a pointer in them stays whole, and may become a part.
TEST(TraceMemory, ACopyWithinSharedMemoryKeepsPointers) {
  EXPECT_EQ(testing::detailsOf(".shared .align 16 .b8 s[128]; .shared .align 8 .b8 bar[8]; st.shared.u64 [s], %rd1;\n"
                               "mov.u32 %r3, s; mov.u32 %r4, bar;\n"
                               "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], "
                               "16, [%r4];\n"
                               "ld.shared.u64 %rd9, [s+64]; ld.global.u32 %r9, [%rd9];"),
            (std::vector<std::string>{"a: named addressed sole", "b: named", "n: named"}));
}

} // namespace
} // namespace tenon::linker
