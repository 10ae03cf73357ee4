// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of memory and calls: which are steps, of what, and what a load is known to find.
#include "tests/unit/linker/access/plan/plan_words.h"

namespace tenon::linker {
namespace {

using testing::expectLines, testing::PlanOf, testing::planned;

struct Case {
  std::string_view body;
  testing::Lines lines;
};

void expectAll(std::span<const Case> cases, std::string_view before = "") {
  for (const Case &row : cases)
    expectLines(row.body, row.lines, before);
}

TEST(PlanMemory, GlobalMemoryHoldsForeignValues) {
  const Case cases[] = {
      {"ld.global.u32 %r9, [%rd1]; st.global.u32 [%rd2], %r9;",
       {"3: Load.global 4/0 <- a", "4: Store.global 4/4 <- b foreign"}},
      {"ld.global.nc.v2.u32 {%r8, %r9}, [%rd1]; st.global.u32 [%rd2], %r9;",
       {"3: Load.global.nc 8/4 <- a", "4: Store.global 4/4 <- b foreign"}},
      {"ld.global.u32 %r9, [%rd1+16]; st.global.u32 [%rd2+8], %r9;",
       {"3: Load.global 4/0 <- a", "4: Store.global 4/4 <- b foreign"}},
      {"shr.u64 %rd8, %rd1, 4; ld.global.u64 %rd9, [%rd8]; st.global.u64 [%rd2], %rd9;",
       {"4: Load.global 8/0 <- a:part", "5: Store.global 8/8 <- b a:part+foreign"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; add.u64 %rd8, %rd8, %rd2; ld.global.u64 %rd9, [%rd8]; st.global.u64 [%rd2], %rd9;",
       {"3: Compute Join/Keep %rd8 <- a:index", "4: Compute Sum/Keep %rd8 <- %rd8 b late",
        "5: Load.global 8/8 %rd9 <- %rd8", "6: Store.global 8/8 <- b %rd9"}},
      {"ld.global.u32 %r9, [g]; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b foreign"}},
      {"mov.u64 %rd9, g; ld.global.u32 %r9, [%rd9]; st.global.u32 [%rd2], %r9;", {"5: Store.global 4/4 <- b foreign"}},
      {"ld.u32 %r9, [%rd1]; st.u32 [%rd2], %r9;", {"3: Load.generic 4/4 %r9 <- a", "4: Store.generic 4/4 <- b %r9"}},
      {"ld.const.u32 %r9, [%rd1]; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b foreign"}},
      {"shr.u64 %rd8, %rd1, 4; ld.const.u64 %rd9, [%rd8]; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:part+foreign"}},
      {"ld.global.u32 %r9, [%rd9]; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b foreign"}},
      {"ld.shared.u32 %r9, [%r1]; st.shared.u32 [%r1], %r9;",
       {"3: Load.shared 4/4 %r9 <- n", "4: Store.shared 4/4 <- n %r9"}},
      {"ld.local.u32 %r9, [%rd9]; st.local.u32 [%rd9], %r9;",
       {"3: Load.local 4/4 %r9 <- 1", "4: Store.local 4/4 <- 1 %r9"}},
      {"ld.shared.u64 %rd9, [%r2]; ld.global.u32 %r9, [%rd9]; st.global.u32 [%rd9], %r9;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Load.global 4/4 %r9 <- %rd9", "5: Store.global 4/4 <- %rd9 %r9"}},
      {"ld.shared.u64 %rd9, [%r2]; ld.global.v2.u32 {%r8, %r9}, [%rd9+4]; st.global.v2.u32 [%rd9], {%r8, %r9};",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Load.global 8/4 %r8 %r9 <- %rd9", "5: Store.global 8/4 <- %rd9 %r8 %r9"}},
      {"ld.global.v2.u64 {%rd8, %rd9}, [%rd1]; ld.global.u32 %r9, [%rd9]; st.global.u32 [%rd8], 1;",
       {"3: Load.global 16/8 <- a", "5: Store.global 4/4 <- foreign 1"}},
      {"ld.global.u32 %r9, [%rd1]; @%p1 ld.global.u32 %r9, [%rd2]; st.global.u32 [%rd2], %r9;",
       {"3: Load.global 4/4 <- a", "4: Load.global 4/4 <- b if", "5: Store.global 4/4 <- b foreign"}},
  };
  expectAll(cases, ".global .u32 g; .func f(.param .b64 x) { ret; }\n");
}

/// Cells 0 to 2 are the parameters.
TEST(PlanMemory, PlacesOfVariablesAreCells) {
  const Case cases[] = {
      {".shared .align 8 .b8 s[16]; st.shared.u64 [s], %rd1; ld.shared.u64 %rd9, [s+8]; st.global.u64 [%rd2], %rd9;",
       {"3: StoreCell cell 3+0:8 <- a", "4: LoadCell cell 3+8:8 %rd9", "5: Store.global 8/8 <- b %rd9"}},
      {".shared .align 8 .b8 s[16]; st.shared.v2.u64 [s], {%rd1, %rd2}; ld.shared.v2.u64 {%rd8, %rd9}, [s]; "
       "st.global.u64 [%rd2], %rd9;",
       {"3: StoreCell cell 3+0:8 <- a", "3: StoreCell cell 3+8:8 <- b", "4: LoadCell cell 3+0:8 %rd8",
        "4: LoadCell cell 3+8:8 %rd9", "5: Store.global 8/8 <- b %rd9"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; add.u32 %r8, %r9, 8; st.shared.u64 [%r8+-8], %rd1; ld.shared.u64 "
       "%rd9, [%r9]; st.global.u64 [%rd2], %rd9;",
       {"5: StoreCell cell 3+0:8 <- a", "6: LoadCell cell 3+0:8 %rd9", "7: Store.global 8/8 <- b %rd9"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; add.u32 %r8, %r9, %r1; st.shared.u64 [%r8], %rd1;",
       {"5: Store.shared 8/8 <- n+shared a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; @%p1 add.u32 %r8, %r9, 8; st.shared.u64 [%r8], %rd1;",
       {"5: Store.shared 8/8 <- shared:none|plus a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; add.u32 %r9, %r9, 8; st.shared.u64 [%r9], %rd1;",
       {"5: Store.shared 8/8 <- shared a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s+8; st.shared.u64 [%r9], %rd1;", {"4: StoreCell cell 3+8:8 <- a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; cvt.u64.u32 %rd9, %r9; cvta.shared.u64 %rd8, %rd9; add.u64 %rd7, "
       "%rd8, 8; st.u64 [%rd7], %rd1;",
       {"7: StoreCell cell 3+8:8 <- a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; cvt.u16.u32 %rs1, %r9; cvt.u32.u16 %r8, %rs1; st.shared.u64 [%r8], "
       "%rd1;",
       {"6: Store.shared 8/8 <- shared a"}},
      {".shared .align 8 .b8 s[16]; mov.u32 %r9, s; sub.u32 %r8, %r9, 8; st.shared.u64 [%r8], %rd1;",
       {"5: Store.shared 8/8 <- shared a"}},
      {".shared .align 8 .b8 s[]; st.shared.u64 [s], %rd1;", {"3: Store.shared 8/8 <- shared a"}},
      {".local .align 8 .b8 d[16]; .shared .align 8 .b8 s[16]; st.shared.u64 [s], %rd1; st.local.u64 [d+8], %rd2; "
       "ld.local.u32 %r9, [d]; st.global.u32 [%rd2], %r9;",
       {"3: StoreCell cell 4+0:8 <- a", "4: StoreCell cell 3+8:8 <- b", "5: LoadCell cell 3+0:4 %r9",
        "6: Store.global 4/4 <- b %r9"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd9, d; cvta.local.u64 %rd8, %rd9; st.u64 [%rd8+8], %rd1; ld.local.u64 "
       "%rd7, [%rd9+8]; st.global.u64 [%rd2], %rd7;",
       {"5: StoreCell cell 3+8:8 <- a", "6: LoadCell cell 3+8:8 %rd7", "7: Store.global 8/8 <- b %rd7"}},
      {".local .align 8 .b8 d[16]; mov.u64 %rd9, d; st.global.u64 [%rd9], %rd1;", {"4: Store.global 8/8 <- local a"}},
      {".shared .align 8 .b8 s[16]; atom.shared.exch.b64 %rd9, [s], %rd1; st.global.u64 [%rd2], %rd9;",
       {"3: Atomic.shared 8/8 %rd9 <- shared a", "4: Store.global 8/8 <- b %rd9"}},
      {".shared .align 8 .b8 s[16]; red.shared.add.u64 [s], %rd1;", {"3: Atomic.shared 8/8 <- shared a"}},
      {".shared .align 8 .b8 s[16]; @%p1 st.shared.u64 [s], %rd1;", {"3: StoreCell cell 3+0:8 <- a if"}},
  };
  expectAll(cases);
}

TEST(PlanMemory, ParametersAreConstantsUnlessTheyAreWritten) {
  const Case cases[] = {
      {"ld.param.u32 %r9, [a]; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b a:mixed"}},
      {"ld.param.u32 %r9, [a+4]; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b a:part"}},
      {"ld.param.u64 %rd9, [n]; st.global.u64 [%rd2], %rd9;",
       {"4: Store.global 8/8 <- b a:none|plus|part+b:none|plus|part+n:none|plus"}},
      {"ld.param.u64 %rd9, [a+8]; st.global.u64 [%rd2], %rd9;",
       {"4: Store.global 8/8 <- b a:none|plus|part+b:none|plus|part+n:none|plus"}},
      {"ld.param.u64 %rd9, [b+-8]; st.global.u64 [%rd2], %rd9;",
       {"4: Store.global 8/8 <- b a:none|plus|part+b:none|plus|part+n:none|plus"}},
      {"ld.param.f32 %f9, [n]; st.global.f32 [%rd2], %f9;", {"4: Store.global 4/4 <- b 1"}},
      {"ld.param.v2.u32 {%r8, %r9}, [a]; st.global.u32 [%rd2], %r8; st.global.u32 [%rd2], %r9;",
       {"4: Store.global 4/4 <- b a:mixed", "5: Store.global 4/4 <- b a:part"}},
      {"@%p1 ld.param.u64 %rd9, [a]; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:none|plus"}},
      {"mov.u64 %rd9, %rd2; ld.param.u64 %rd9, [a]; st.global.u64 [%rd2], %rd9;",
       {"3: Compute Join/Keep %rd9 <- b", "4: Compute Join/Keep %rd9 <- a", "5: Store.global 8/8 <- b %rd9"}},
      {"mov.b64 %rd9, a; ld.param.u64 %rd8, [%rd9]; st.global.u64 [%rd2], %rd8;",
       {"3: TakeCell cell 0", "5: Store.global 8/8 <- b a"}},
      {"mov.b64 %rd9, a; ld.param.u64 %rd8, [%rd9+8]; st.global.u64 [%rd2], %rd8;",
       {"3: TakeCell cell 0", "5: Store.global 8/8 <- b a:none|plus|part+b:none|plus|part+n:none|plus"}},
      {"mov.b64 %rd9, a; cvta.param.u64 %rd8, %rd9; ld.u64 %rd7, [%rd8]; st.global.u64 [%rd2], %rd7;",
       {"3: TakeCell cell 0", "6: Store.global 8/8 <- b a"}},
      {"mov.b64 %rd9, a; st.param.u64 [%rd9], %rd2; ld.param.u64 %rd8, [a]; st.global.u64 [%rd2], %rd8;",
       {"3: TakeCell cell 0", "4: Store.param 8/8 <- param b", "6: Store.global 8/8 <- b a"}},
      {"st.param.u64 [a], %rd2; ld.param.u64 %rd9, [a]; st.global.u64 [%rd2], %rd9;",
       {"0: LoadCell cell 0+0:8 %rd1", "1: LoadCell cell 1+0:8 %rd2", "2: LoadCell cell 2+0:4 %r1",
        "3: StoreCell cell 0+0:8 <- %rd2", "4: LoadCell cell 0+0:8 %rd9", "5: Store.global 8/8 <- %rd2 %rd9"}},
      {"st.param.v2.u32 [a+4], {%r1, 7}; ld.param.u64 %rd9, [n]; st.global.u64 [%rd2], %rd9;",
       {"0: LoadCell cell 0+0:8 %rd1", "1: LoadCell cell 1+0:8 %rd2", "2: LoadCell cell 2+0:4 %r1",
        "3: StoreCell cell 0+4:4 <- %r1", "3: StoreCell cell 0+8:4 <- 1", "4: LoadCell cell 2+0:8 %rd9",
        "5: Store.global 8/8 <- %rd2 %rd9"}},
  };
  expectAll(cases);
}

TEST(PlanMemory, EveryKindOfAccessHasItsStep) {
  const Case cases[] = {
      {"atom.global.add.u32 %r9, [%rd1], %r1; st.global.u32 [%rd2], %r9;",
       {"3: Atomic.global 4/4 %r9 <- a n", "4: Store.global 4/4 <- b %r9"}},
      {"red.global.add.u32 [%rd1+4], %r1;", {"3: Atomic.global 4/4 <- a n"}},
      {"atom.global.cas.b64 %rd9, [%rd1], %rd2, 7; st.global.u64 [%rd2], %rd9;",
       {"3: Atomic.global 8/8 %rd9 <- a b 1", "4: Store.global 8/8 <- b %rd9"}},
      {"cp.async.ca.shared.global [%r2], [%rd1], 8;", {"3: CopyToShared.global 8/0 <- a 1 1"}},
      {"cp.async.cg.shared.global [%r2], [%rd1], 16, %r1;", {"3: CopyToShared.global 16/0 <- a 1 1 n"}},
      {"cp.async.ca.shared.global [%r2], [%rd1], 4, %r1, %rd2;", {"3: CopyToShared.global 4/0 <- a 1 1 n b"}},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], %r1, [%r3];",
       {"3: CopyToShared.global 16/0 <- a 1 n 1"}},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [%r1], 16, [%r3];",
       {"3: CopyToShared.shared 16/0 <- n 1 1 1"}},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;", {"3: CopyToGlobal.global 16/0 <- a 1"}},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r1, %r3}], [%r4];",
       {"3: CopyToShared.global 0/0 <- a 1 n 1 1"}},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
       {"3: StoreToMap.global 0/0 <- a n"}},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16;", {}},
      {"prefetch.global.L2 [%rd1];", {}},
      {"add.u64 %rd9, %rd1, %rd2; prefetch.global.L2 [%rd9];", {}},
      {"add.u64 %rd9, %rd1, %rd2; cvta.to.global.u64 %rd8, %rd9;", {}},
      {"mul.wide.u32 %rd9, %r1, 4; add.u64 %rd9, %rd9, %rd1; prefetch.global.L2 [%rd9];",
       {"3: Compute Join/Keep %rd9 <- n:mixed", "4: Compute Sum/Keep %rd9 <- %rd9 a late"}},
      {"prefetch.global.L2 [g];", {}},
      {"cvta.to.global.u64 %rd9, a;", {"3: TakeCell cell 0"}},
      {"prefetchu.L1 [%rd1];", {}},
      {"discard.global.L2 [%rd1], 128;", {"3: Store.global 0/0 <- a 1"}},
      {"frobnicate.global.u32 %r9, [%rd1], %r1; st.global.u32 [%rd2], %r9;",
       {"3: Unknown %r9 <- a n", "4: Store.global 4/4 <- b %r9"}},
      {"frobnicate.u32 [%rd1];", {"3: Unknown <- a"}},
      {"st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};", {"3: Store.global 16/4 <- a 1 1 1 1"}},
      {"st.global.b32 [%rd1], 0f00000000;", {"3: Store.global 4/4 <- a 1"}},
      {"sust.b.1d.b32.trap [%rd1, {%r1}], %r2;", {"3: StoreToMap.generic 4/4 <- a n 1"}},
      {"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %rd1;", {"3: Store.shared 8/8 <- 1 a"}},
      {"mbarrier.arrive.shared.b64 %rd9, [%r2], %r1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b 1"}},
      {"cvt.u32.u64 %r3, %rd1; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], %r3;", {"4: Steer <- a:mixed"}},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;",
       {"3: SharedProduct %f1 %f2 %f3 %f4 <- a b 1 1 1 1 1"}},
      {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};", {"3: TensorStore <- 1 n"}},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r2];", {"3: TensorLoad %r9 <- 1"}},
  };
  expectAll(cases);
}

TEST(PlanMemory, CallsTakeCellsAndValues) {
  const Case cases[] = {
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call f, (x); }", {"3: StoreCell cell 3+0:8 <- a", "4: Call"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), unknown, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u64 [%rd2], %rd9;",
       {"3: StoreCell cell 3+0:8 <- a", "4: Call", "5: LoadCell cell 4+0:8 %rd9", "6: Store.global 8/8 <- b %rd9"}},
      {"call (%rd9), f, (%rd1); st.global.u64 [%rd2], %rd9;", {"3: Call", "4: Store.global 8/8 <- b %rd9"}},
      {"@%p1 call (%rd9), f, (%rd1, 7); st.global.u64 [%rd2], %rd9;", {"3: Call if", "4: Store.global 8/8 <- b %rd9"}},
      {"P: .callprototype _ (.param .b64 x); { .param .b64 x; st.param.b64 [x], %rd1; call %rd9, (x), P; }",
       {"3: StoreCell cell 3+0:8 <- a", "4: Call"}},
      {"bfe.u64 %rd9, %rd1, 9, 10; P: .callprototype _ (); call %rd9, (), P;", {"4: Steer <- a:index", "4: Call"}},
      {"call (a), f, (%rd1); ld.param.u64 %rd9, [a]; st.global.u64 [%rd2], %rd9;",
       {"0: LoadCell cell 0+0:8 %rd1", "1: LoadCell cell 1+0:8 %rd2", "2: LoadCell cell 2+0:4 %r1", "3: Call",
        "4: LoadCell cell 0+0:8 %rd9", "5: Store.global 8/8 <- %rd2 %rd9"}},
  };
  expectAll(cases, ".global .u32 g; .func f(.param .b64 x) { ret; }\n");
}

TEST(PlanMemory, ACallHasItsCalleeAndWhatIsPassed) {
  const PlanOf plan(planned("{ .param .b64 x; .param .b64 r; call (r), f, (x, %rd1, 7); } call unknown, ();\n"
                            "call (%rd9), g, (a); P: .callprototype _ (); call %rd9, (), P;",
                            ".func (.param .b64 r) f(.param .b64 x, .param .b64 y, .param .b64 z) { ret; }\n"
                            ".extern .func (.param .b64 r) g(.param .b64 x);\n"));
  const std::vector<CallSite> &calls = plan.plan.calls;
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].name, "f");
  EXPECT_EQ(calls[0].callee, 0u);
  ASSERT_EQ(calls[0].results.size(), 1u);
  EXPECT_TRUE(calls[0].results[0].isCell);
  EXPECT_EQ(calls[0].results[0].index, 4u);
  ASSERT_EQ(calls[0].arguments.size(), 3u);
  EXPECT_TRUE(calls[0].arguments[0].isCell);
  EXPECT_EQ(calls[0].arguments[0].index, 3u);
  EXPECT_FALSE(calls[0].arguments[1].isCell);
  EXPECT_EQ(plan.plan.constants[calls[0].arguments[1].index - plan.plan.registerCount], Origins::of(0));
  EXPECT_EQ(plan.plan.constants[calls[0].arguments[2].index - plan.plan.registerCount], Origins::number());
  EXPECT_EQ(calls[1].name, "unknown");
  EXPECT_EQ(calls[1].callee, kNoFunction);
  EXPECT_TRUE(calls[1].results.empty() && calls[1].arguments.empty());
  EXPECT_EQ(calls[2].callee, 1u);
  ASSERT_EQ(calls[2].arguments.size(), 1u);
  EXPECT_TRUE(calls[2].arguments[0].isCell) << "a parameter is handed on";
  EXPECT_EQ(calls[2].arguments[0].index, 0u);
  ASSERT_EQ(calls[2].results.size(), 1u);
  EXPECT_FALSE(calls[2].results[0].isCell);
  EXPECT_EQ(calls[3].callee, kNoFunction);
  EXPECT_TRUE(calls[3].arguments.empty()) << "the prototype is none";
}

TEST(PlanMemory, AddressesThatNoStepLooksAtAreNoted) {
  struct Noted {
    std::string_view body;
    std::string_view sole, joint; // which of a, b, n
  };
  const Noted cases[] = {
      {"prefetch.global.L2 [%rd1];", "a", ""},
      {"prefetch.global.L2 [%rd1+8];", "a", ""},
      {"prefetchu.L1 [%rd2];", "b", ""},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16;", "a", ""},
      {"add.u64 %rd9, %rd1, %rd2; prefetch.global.L2 [%rd9];", "", "ab"},
      {"cvt.u64.u32 %rd8, %r1; add.u64 %rd9, %rd1, %rd8; prefetch.global.L2 [%rd9];", "", "an"},
      {"mul.wide.u32 %rd8, %r1, 4; add.u64 %rd9, %rd1, %rd8; prefetch.global.L2 [%rd9];", "a", ""},
      {"cvta.to.global.u64 %rd9, %rd1;", "a", ""},
      {"@%p1 cvta.to.global.u64 %rd9, %rd2;", "b", ""},
      {"@%p1 prefetch.global.L2 [%rd2];", "b", ""},
      {"add.u64 %rd9, %rd1, %rd2; cvta.to.global.u64 %rd8, %rd9;", "", "ab"},
      {"prefetch.global.L2 [g];", "", ""},
      {"prefetch.global.L2 [%rd9];", "", ""},
      {"prefetch.global.L2 [4096];", "", ""},
      {"cvta.global.u64 %rd9, g;", "", ""},
      {"shr.u64 %rd9, %rd1, 4; prefetch.global.L2 [%rd9];", "", ""},
      {"bar.sync 0;", "", ""},
  };
  for (const Noted &row : cases) {
    const PlanOf plan(planned(row.body, ".global .u32 g;\n"));
    std::string sole, joint;
    for (size_t i = 0; i < plan.plan.notes.size(); ++i) {
      sole += plan.plan.notes[i].soleBase ? testing::slotName(uint32_t(i)) : "";
      joint += plan.plan.notes[i].jointBase ? testing::slotName(uint32_t(i)) : "";
    }
    EXPECT_EQ(sole, row.sole) << row.body;
    EXPECT_EQ(joint, row.joint) << row.body;
  }
}

/// Slots 0 and 1 are pointers at 8 and 16 of a struct, 2 is the struct itself, 3 a parameter behind it.
const ParameterSlots kStruct = {{.parameter = 0, .offset = 8, .isPointer = true},
                                {.parameter = 0, .offset = 16, .isPointer = true},
                                {.parameter = 0},
                                {.parameter = 1, .isPointer = true}};

TEST(PlanMemory, ALoadNamesTheSlotsThatItFinds) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"ld.param.u64 %rd1, [s+8];", "an"},
      {"ld.param.u64 %rd1, [s+16];", "bn"},
      {"ld.param.u32 %r1, [s];", "n"},
      {"ld.param.u32 %r1, [s+12];", "an"},
      {"ld.param.u32 %r1, [s+20];", "bn"},
      {"ld.param.u8 %r1, [s+7];", "n"},
      {"ld.param.u8 %r1, [s+15];", "an"},
      {"ld.param.u8 %r1, [s+24];", "n"},
      {"ld.param.v2.u64 {%rd1, %rd2}, [s];", "an"},
      {"ld.param.v2.u64 {%rd1, %rd2}, [s+8];", "abn"},
      {"ld.param.u64 %rd1, [p];", "m"},
      {"ret;", ""},
  };
  for (const auto &[body, named] : cases)
    for (std::string_view guard : {"", "@%p1 "}) {
      const PlanOf plan(concat(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 8 .b8 "
                               "s[32], .param .u64 p) {\n.reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n",
                               guard, body, " mov.u64 %rd1, 1; ret; }\n"),
                        kStruct);
      std::string found;
      for (size_t i = 0; i < plan.plan.notes.size(); ++i)
        found += plan.plan.notes[i].named ? testing::slotName(uint32_t(i)) : "";
      EXPECT_EQ(found, named) << guard << body;
      EXPECT_FALSE(plan.plan.notes[0].loadedAsFloat);
    }
}

TEST(PlanMemory, ALoadOfAFloatIsNoted) {
  EXPECT_TRUE(PlanOf(planned("ld.param.f32 %f1, [n];")).plan.notes[2].loadedAsFloat);
  EXPECT_TRUE(PlanOf(planned("ld.param.v2.f32 {%f1, %f2}, [a];")).plan.notes[0].loadedAsFloat);
  EXPECT_FALSE(PlanOf(planned("ld.param.b32 %f1, [n];")).plan.notes[2].loadedAsFloat);
}

/// A function that is called begins with what another one left in its frame.
TEST(PlanMemory, AFrameIsBlankUntilTheWholePlaceIsStored) {
  const std::pair<std::string_view, bool> cases[] = {
      {"ld.local.u64 %rd1, [d];", true},
      {"st.local.u64 [d], 1; ld.local.u64 %rd1, [d];", false},
      {"st.local.u64 [d], 1; ld.local.u32 %r1, [d+4];", false},
      {"st.local.u32 [d], 1; ld.local.u64 %rd1, [d];", true},
      {"st.local.u32 [d+4], 1; ld.local.u64 %rd1, [d];", true},
      {"st.local.u64 [d+8], 1; ld.local.u64 %rd1, [d];", true},
      {"st.local.u64 [e], 1; ld.local.u64 %rd1, [d];", true},
      {"@%p1 st.local.u64 [d], 1; ld.local.u64 %rd1, [d];", true},
      {"st.local.u64 [d], 1; @%p1 bra L; L: ld.local.u64 %rd1, [d];", false},
      {"@%p1 bra L; st.local.u64 [d], 1; L: ld.local.u64 %rd1, [d];", true},
      {"@%p1 bra L; st.local.u64 [d], 1; ld.local.u64 %rd1, [d]; L:", false},
      {"ld.param.u64 %rd1, [x];", false},
  };
  for (const auto &[body, isBlank] : cases) {
    const PlanOf plan(concat(".version 8.6\n.target sm_90\n.address_size 64\n.func f(.param .b64 x) {\n"
                             ".reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>; .local .align 8 .b8 d[16];\n"
                             ".local .align 8 .b8 e[16];\n",
                             body, "\nret; }\n"));
    std::vector<bool> blank;
    for (const Step &step : plan.plan.steps)
      if (step.kind == StepKind::LoadCell)
        blank.push_back(step.mayBeBlank);
      else
        EXPECT_FALSE(step.mayBeBlank) << body;
    EXPECT_EQ(blank, std::vector<bool>{isBlank}) << body;
  }
  const PlanOf kernel(planned(".local .align 8 .b8 d[16]; ld.local.u64 %rd9, [d];"));
  ASSERT_EQ(kernel.kinds(), std::vector<StepKind>{StepKind::LoadCell});
  EXPECT_FALSE(kernel.plan.steps[0].mayBeBlank) << "a kernel's own frame holds nothing of this launch";
}

/// A sweep has to come by once more where a step in front of it has read one of several results.
TEST(PlanMemory, OneOfSeveralResultsWasReadBefore) {
  expectLines("L: st.global.u64 [%rd2], %rd8; ld.shared.v2.u64 {%rd8, %rd9}, [%r2]; @%p1 bra L;",
              {"3: Store.global 8/8 <- b %rd8", "4: Load.shared 16/8 %rd8 %rd9 <- 1 late"});
  expectLines("L: st.global.u64 [%rd2], %rd9; ld.shared.v2.u64 {%rd8, %rd9}, [%r2]; @%p1 bra L;",
              {"3: Store.global 8/8 <- b %rd9", "4: Load.shared 16/8 %rd8 %rd9 <- 1 late"});
}

} // namespace
} // namespace tenon::linker
