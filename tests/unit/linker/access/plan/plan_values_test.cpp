// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What registers are known to hold, and what is left to be computed.
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

TEST(PlanValues, WhatFollowsFromKnownValuesNeedsNoStep) {
  const Case cases[] = {
      {"add.u64 %rd9, %rd1, 8; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a"}},
      {"sub.u64 %rd9, %rd1, %rd2; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a+b:minus"}},
      {"sub.u64 %rd9, %rd2, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:minus+b"}},
      {"neg.s64 %rd9, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:minus"}},
      {"mad.lo.u64 %rd9, %rd1, 3, %rd2; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:mixed+b"}},
      {"mad.lo.u64 %rd9, 3, 3, %rd2; st.global.u64 [%rd1], %rd9;", {"4: Store.global 8/8 <- a b"}},
      {"selp.b64 %rd9, %rd1, %rd2, %p1; st.global.u64 [%rd2], %rd9;",
       {"4: Store.global 8/8 <- b a:none|plus+b:none|plus"}},
      {"setp.lt.u64 %p1, %rd1, 7; selp.b64 %rd9, 1, 2, %p1; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:few"}},
      {"cvt.u32.u64 %r9, %rd1; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b a:mixed"}},
      {"cvt.u64.u32 %rd9, %r1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b n"}},
      {"mov.u32 %r9, %tid.x; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b 1"}},
      {"mov.b64 %rd9, 12; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b 1"}},
      {"mov.f64 %rd9, 0d3FF0000000000000; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b 1"}},
      {"shr.u64 %rd9, %rd1, 4; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:part"}},
      {"shr.u64 %rd9, %rd1, 56; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:index"}},
      {"lop3.b32 %r9, %r1, %r2, %r3, 128; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b n:mixed"}},
      {"mul.wide.u32 %rd9, %r1, 4; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b n:mixed"}},
      {"clock64 %rd9; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b 1"}},
      {"activemask.b32 %r9; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b 1"}},
      {"elect.sync %r9|%p1, -1; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b 1"}},
      {"createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0; st.global.u64 [%rd2], %rd9;",
       {"4: Store.global 8/8 <- b 1"}},
  };
  expectAll(cases);
}

/// Not those of floating-point numbers: sums of them begin with a zero, and go on with what memory holds.
TEST(PlanValues, SeveralDefinitionsAreTakenToAgreeUntilTheyDoNot) {
  const Case cases[] = {
      {"mov.u64 %rd9, %rd1; L: st.global.u32 [%rd9], 1; add.u64 %rd9, %rd9, 4; @%p1 bra L;",
       {"4: Store.global 4/4 <- a 1"}},
      {"mov.u64 %rd9, %rd1; L: st.global.u32 [%rd9], 1; mov.u64 %rd9, %rd2; @%p1 bra L;",
       {"3: Compute Join/Keep %rd9 <- a", "4: Store.global 4/4 <- %rd9 1", "5: Compute Join/Keep %rd9 <- b late"}},
      {"mov.f32 %f1, 0f00000000; @%p1 bra L; mov.f32 %f1, 0f3F800000; L: st.global.f32 [%rd2], %f1;",
       {"3: Compute Join/Keep %f1 <- 1", "5: Compute Join/Keep %f1 <- 1", "6: Store.global 4/4 <- b %f1"}},
      {"mov.f64 %fd1, 0d0000000000000000; @%p1 bra L; mov.f64 %fd1, 0d3FF0000000000000; L: st.global.f64 [%rd2], %fd1;",
       {"3: Compute Join/Keep %fd1 <- 1", "5: Compute Join/Keep %fd1 <- 1", "6: Store.global 8/8 <- b %fd1"}},
      {"mov.b32 %f1, 0f00000000; @%p1 bra L; mov.b32 %f1, 0f3F800000; L: st.global.f32 [%rd2], %f1;",
       {"3: Compute Join/Keep %f1 <- 1", "5: Compute Join/Keep %f1 <- 1", "6: Store.global 4/4 <- b %f1"}},
      {"mov.b64 %fd1, 0d0000000000000000; @%p1 bra L; mov.b64 %fd1, 0d3FF0000000000000; L: st.global.f64 [%rd2], %fd1;",
       {"3: Compute Join/Keep %fd1 <- 1", "5: Compute Join/Keep %fd1 <- 1", "6: Store.global 8/8 <- b %fd1"}},
      {"mov.u32 %r9, 0; @%p1 bra L; mov.u32 %r9, 1; L: st.global.u32 [%rd2], %r9;", {"6: Store.global 4/4 <- b 1"}},
      {"add.f32 %f1, %f2, %f2; @%p1 bra L; add.f32 %f1, %f2, %f3; L: st.global.f32 [%rd2], %f1;",
       {"3: Compute Join/Keep %f1 <- 1", "5: Compute Join/Keep %f1 <- 1", "6: Store.global 4/4 <- b %f1"}},
  };
  expectAll(cases);
}

TEST(PlanValues, HalvesOfAValueAreThatValueAgain) {
  const Case cases[] = {
      {"mov.b64 {%r2, %r3}, %rd1; st.global.u32 [%rd2], %r2; st.global.u32 [%rd2], %r3;",
       {"4: Store.global 4/4 <- b a:mixed", "5: Store.global 4/4 <- b a:part"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd9, {%r2, %r3}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd9, {%r3, %r2}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:part"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b32 %r4, %r2; mov.b64 %rd9, {%r4, %r3}; st.global.u64 [%rd2], %rd9;",
       {"6: Store.global 8/8 <- b a"}},
      {"mov.b64 {%r2, %r3}, %rd1; @%p1 mov.b32 %r4, %r2; mov.b64 %rd9, {%r4, %r3}; st.global.u64 [%rd2], %rd9;",
       {"6: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 {%r4, %r5}, %rd1; mov.b64 %rd9, {%r2, %r5}; st.global.u64 [%rd2], %rd9;",
       {"6: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b32 %r4, %r2; mov.b32 %r4, %r2; mov.b64 %rd9, {%r4, %r3}; st.global.u64 [%rd2], "
       "%rd9;",
       {"7: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 {%r2, %r4}, %rd1; mov.b64 %rd9, {%r2, %r3}; st.global.u64 [%rd2], %rd9;",
       {"6: Store.global 8/8 <- b a:mixed"}},
      {"@%p1 mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd9, {%r2, %r3}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:none|mixed"}},
      {"mov.b64 {%r2, _}, %rd1; st.global.u32 [%rd2], %r2;", {"4: Store.global 4/4 <- b a:mixed"}},
      {"mov.b64 {_, %r3}, %rd1; st.global.u32 [%rd2], %r3;", {"4: Store.global 4/4 <- b a:part"}},
      {"mov.b32 {%rs1, %rs2}, %r1; mov.b32 %r9, {%rs1, %rs2}; st.global.u32 [%rd2], %r9;",
       {"5: Store.global 4/4 <- b n:mixed"}},
      {"mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd1; st.global.u16 [%rd2], %rs1; st.global.u16 [%rd2], %rs4;",
       {"4: Store.global 2/2 <- b a:mixed", "5: Store.global 2/2 <- b a:part"}},
      {"mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd1; mov.b64 %rd9, {%rs1, %rs2, %rs3, %rs4}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 %rd9, {%r1, 0}; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b n:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd9, {%r2, 0}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd9, {0, %r3}; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:mixed"}},
      {"mov.b128 %q1, {%rd1, %rd2}; mov.b128 {%rd8, %rd9}, %q1; st.global.u64 [%rd2], %rd8; st.global.u64 [%rd2], "
       "%rd9;",
       {"5: Store.global 8/8 <- b a:none|plus+b:none|plus", "6: Store.global 8/8 <- b a:none|plus+b:none|plus"}},
      {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4, %r2, 0, 31, -1; shfl.sync.idx.b32 %r5, %r3, 0, 31, -1; "
       "mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"7: Store.global 8/8 <- b a"}},
      {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4, %r2, %r1, 31, -1; shfl.sync.idx.b32 %r5, %r3, %r1, 31, -1; "
       "mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"7: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.u32 %r7, %tid.x; shfl.sync.idx.b32 %r4, %r2, %r7, 31, -1; shfl.sync.idx.b32 %r5, "
       "%r3, %r7, 31, -1; mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"8: Store.global 8/8 <- b a"}},
      {"mov.b64 {%r2, %r3}, %rd1; mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.x; shfl.sync.idx.b32 %r4, %r2, %r7, 31, -1; "
       "shfl.sync.idx.b32 %r5, %r3, %r8, 31, -1; mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"9: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4, %r2, 0, 31, -1; shfl.sync.up.b32 %r5, %r3, 0, 31, -1; mov.b64 "
       "%rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"7: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4, %r2, 0, 31, -1; L: shfl.sync.idx.b32 %r5, %r3, 0, 31, -1; "
       "mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"7: Store.global 8/8 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4|%p1, %r2, 0, 31, -1; shfl.sync.idx.b32 %r5|%p2, %r3, 0, 31, "
       "-1; mov.b64 %rd9, {%r4, %r5}; st.global.u64 [%rd2], %rd9;",
       {"7: Store.global 8/8 <- b a"}},
      {"mov.b64 {%r2, %r3}, %rd1; add.u32 %r6, %r2, 1; st.global.u32 [%rd2], %r6;",
       {"5: Store.global 4/4 <- b a:mixed"}},
      {"mov.b64 {%r2, %r3}, %rd9; mov.u64 %rd9, %rd1; mov.b64 %rd8, {%r2, %r3}; st.global.u64 [%rd2], %rd8;",
       {"3: Compute Join/Truncate %r2 <- %rd9", "3: Compute Blend/Keep %r3 <- %rd9",
        "4: Compute Join/Keep %rd9 <- a late", "5: Compute Join/Keep %rd8 <- %rd9", "6: Store.global 8/8 <- b %rd8"}},
      {"mov.b64 {%r2, %r3}, %rd9; mov.u64 %rd9, %rd1; mov.u64 %rd9, %rd2; mov.b64 %rd8, {%r2, %r3}; st.global.u64 "
       "[%rd2], %rd8;",
       {"3: Compute Join/Truncate %r2 <- %rd9", "3: Compute Blend/Keep %r3 <- %rd9",
        "4: Compute Join/Keep %rd9 <- a late", "5: Compute Join/Keep %rd9 <- b late",
        "6: Compute Pack/Keep %rd8 <- %r2 %r3", "7: Store.global 8/8 <- b %rd8"}},
  };
  expectAll(cases);
}

/// Of what may be a pointer (K-14).
TEST(PlanValues, MasksUpTo4095LookAtTheAlignment) {
  const Case cases[] = {
      {"and.b64 %rd9, %rd1, 15; st.global.u64 [%rd2], %rd9;", {"3: TestLowBits <- a 1", "4: Store.global 8/8 <- b 1"}},
      {"and.b64 %rd9, %rd1, 4095; st.global.u64 [%rd2], %rd9;",
       {"3: TestLowBits <- a 1", "4: Store.global 8/8 <- b a:index"}},
      {"and.b64 %rd9, %rd1, 4096; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:index"}},
      {"and.b64 %rd9, 15, %rd1; st.global.u64 [%rd2], %rd9;", {"3: TestLowBits <- 1 a", "4: Store.global 8/8 <- b 1"}},
      {"and.b64 %rd9, %rd1, %rd2; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:mixed+b:mixed"}},
      {"and.b32 %r9, %r1, 15; st.global.u32 [%rd2], %r9;", {"3: TestLowBits <- n 1", "4: Store.global 4/4 <- b 1"}},
      {"and.b32 %r9, %r2, 15; st.global.u32 [%rd2], %r9;", {"4: Store.global 4/4 <- b 1"}},
      {"cvt.u32.u64 %r2, %rd1; and.b32 %r9, %r2, 15; st.global.u32 [%rd2], %r9;",
       {"4: TestLowBits <- a:mixed 1", "5: Store.global 4/4 <- b 1"}},
      {"shr.u64 %rd8, %rd1, 3; and.b64 %rd9, %rd8, 15; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b a:index"}},
      {"ld.global.u64 %rd8, [%rd1]; and.b64 %rd9, %rd8, 15; st.global.u64 [%rd2], %rd9;",
       {"3: Load.global 8/0 <- a", "5: Store.global 8/8 <- b foreign:few"}},
      {"ld.shared.u64 %rd8, [%r2]; and.b64 %rd9, %rd8, 15; st.global.u64 [%rd2], %rd9;",
       {"3: Load.shared 8/8 %rd8 <- 1", "4: TestLowBits <- %rd8 1", "4: Compute Join/LowIndex %rd9 <- %rd8",
        "5: Store.global 8/8 <- b %rd9"}},
  };
  expectAll(cases);
}

TEST(PlanValues, CarriesGoFromStepToStep) {
  const Case cases[] = {
      {"add.cc.u32 %r9, %r1, 1; addc.u32 %r8, 0, 0; st.global.u32 [%rd2], %r8;",
       {"3: SetCarry <- n 1", "4: AddCarry %r8 <- 1 1", "5: Store.global 4/4 <- b %r8"}},
      {"add.cc.u64 %rd9, %rd1, 1; addc.u64 %rd8, %rd2, 0; st.global.u64 [%rd2], %rd8; st.global.u64 [%rd2], %rd9;",
       {"3: SetCarry <- a 1", "4: AddCarry %rd8 <- b 1", "5: Store.global 8/8 <- b %rd8",
        "6: Store.global 8/8 <- b a"}},
      {"add.cc.u32 %r9, 2, 1; addc.cc.u32 %r8, 0, 0; addc.u32 %r7, 0, 0; st.global.u32 [%rd2], %r7;",
       {"4: SetCarry <- 1 1", "4: AddCarry %r8 <- 1 1", "5: AddCarry %r7 <- 1 1", "6: Store.global 4/4 <- b %r7"}},
  };
  expectAll(cases);
}

TEST(PlanValues, NamesStandForAddresses) {
  const Case cases[] = {
      {"cvta.to.global.u64 %rd9, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a"}},
      {"cvta.global.u64 %rd9, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a"}},
      {"mov.u64 %rd8, 16; cvta.shared.u64 %rd9, %rd8; st.global.u64 [%rd2], %rd9;",
       {"5: Store.global 8/8 <- b shared"}},
      {"cvta.local.u64 %rd9, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a+local"}},
      {"mov.u64 %rd8, 16; cvta.to.shared.u64 %rd9, %rd8; st.global.u64 [%rd2], %rd9;", {"5: Store.global 8/8 <- b 1"}},
      {".shared .b32 s; mov.u64 %rd9, s; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b shared"}},
      {".local .b32 s; mov.u64 %rd9, s; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b local"}},
      {"mov.u64 %rd9, a; st.global.u64 [%rd2], %rd9;", {"3: TakeCell cell 0", "4: Store.global 8/8 <- b param"}},
      {"mov.u64 %rd9, g; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b module"}},
      {"mov.u64 %rd9, f; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b 1"}},
      {"alloca.u64 %rd9, 16; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b local"}},
  };
  expectAll(cases, ".global .u32 g; .func f(.param .b64 x) { ret; }\n");
}

TEST(PlanValues, WhatIsNotKnownIsComputedByAStep) {
  const Case cases[] = {
      {"ld.shared.u64 %rd9, [%r2]; add.u64 %rd8, %rd9, 8; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Sum/Keep %rd8 <- %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; add.u64 %rd8, 8, %rd9; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Sum/Keep %rd8 <- %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; sub.u64 %rd8, 8, %rd9; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Difference/Keep %rd8 <- 1 %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; mul.lo.u64 %rd8, %rd9, 8; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Scale/Keep %rd8 <- %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; mad.lo.u64 %rd8, %rd9, 8, %rd1; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Scale/Keep %rd8 <- %rd9 a", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; shl.b64 %rd8, %rd9, 8; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Shift/Keep %rd8 <- %rd9 1", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; div.u64 %rd8, %rd9, 8; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Blend/Keep %rd8 <- %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; setp.eq.u64 %p1|%p2, %rd9, 0; st.global.u64 [%rd2], %rd9;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Equal/Narrow %p1 %p2 <- %rd9 1", "5: Store.global 8/8 <- b %rd9"}},
      {"ld.shared.u64 %rd9, [%r2]; and.b64 %rd8, %rd9, -16; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Adjust/Keep %rd8 <- %rd9", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; selp.b64 %rd8, %rd9, 1, %p1; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Select/Keep %rd8 <- %rd9 1 1", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; @%p1 add.u64 %rd8, %rd9, 8; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Sum/Keep %rd8 <- %rd9 if", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u64 %rd9, [%r2]; mov.b64 {%r2, %r3}, %rd9; st.global.u32 [%rd2], %r3;",
       {"3: Load.shared 8/8 %rd9 <- %r2", "4: Compute Join/Truncate %r2 <- %rd9 late",
        "4: Compute Blend/Keep %r3 <- %rd9", "5: Store.global 4/4 <- b %r3"}},
      {"ld.shared.u32 %r3, [%r2]; mov.b64 %rd9, {%r3, %r1}; st.global.u64 [%rd2], %rd9;",
       {"3: Load.shared 4/4 %r3 <- 1", "4: Compute Pack/Keep %rd9 <- %r3 n", "5: Store.global 8/8 <- b %rd9"}},
      {"ld.shared.u64 %rd9, [%r2]; cvta.shared.u64 %rd8, %rd9; st.global.u64 [%rd2], %rd8;",
       {"3: Load.shared 8/8 %rd9 <- 1", "4: Compute Within/Keep %rd8 <- %rd9 shared", "5: Store.global 8/8 <- b %rd8"}},
      {"ld.shared.u32 %r3, [%r2]; shfl.sync.idx.b32 %r4|%p1, %r3, 0, 31, -1; st.global.u32 [%rd2], %r4;",
       {"3: Load.shared 4/4 %r3 <- 1", "4: Compute Shuffle/Truncate %r4 %p1 <- %r3 1 1 1",
        "5: Store.global 4/4 <- b %r4"}},
      {".reg .v2 .b64 %v; mov.b64 %v.x, %rd1; mov.b64 %v.y, %rd2; st.global.u64 [%rd2], %v.x;",
       {"3: Compute Join/Keep %v.x <- a if", "4: Compute Join/Keep %v.x <- b if", "5: Store.global 8/8 <- b %v.x"}},
      {"@%p1 mov.u64 %rd9, %rd1; st.global.u64 [%rd2], %rd9;", {"4: Store.global 8/8 <- b a:none|plus"}},
      {"L: mov.u64 %rd8, %rd9; mov.u64 %rd9, %rd1; st.global.u64 [%rd2], %rd8; @%p1 bra L;",
       {"3: Compute Join/Keep %rd8 <- %rd9", "4: Compute Join/Keep %rd9 <- a late", "5: Store.global 8/8 <- b %rd8"}},
      {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}]; st.global.f32 [%rd2], %f1;",
       {"4: Store.global 4/4 <- b a:part+n:part+foreign:part"}},
  };
  expectAll(cases);
}

} // namespace
} // namespace tenon::linker
