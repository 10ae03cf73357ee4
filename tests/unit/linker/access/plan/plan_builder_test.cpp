// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/plan_builder.h"

#include "tests/unit/linker/access/plan/plan_words.h"

namespace tenon::linker {
namespace {

/// A kernel `k(.u64 a, .u64 b, .u32 n)`.
class KernelPlan : public testing::PlanOf {
public:
  explicit KernelPlan(std::string_view body)
      : PlanOf(concat(".version 8.0\n.target sm_80\n.address_size 64\n"
                      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
                      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<20>; .reg .f32 %f<9>;\n",
                      body, "\nret;\n}\n")) {}
};
using Kinds = std::vector<StepKind>;

TEST(Plan, OnlyAccessesOfParametersAreStepsWhereAllIsKnown) {
  const KernelPlan straight("ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd2, %rd1;\n"
                            "mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r2, %r1, %r1; mul.wide.s32 %rd3, %r3, 4;\n"
                            "add.s64 %rd4, %rd2, %rd3; ld.global.f32 %f1, [%rd4]; mul.f32 %f2, %f1, %f1;\n"
                            "st.global.f32 [%rd4], %f2;");
  EXPECT_EQ(straight.kinds(), (Kinds{StepKind::Load, StepKind::Store}));
  EXPECT_TRUE(straight.plan.notes[0].named);
  EXPECT_TRUE(straight.plan.notes[0].soleBase) << "cvta converts it";
  EXPECT_FALSE(straight.plan.notes[1].named);
  EXPECT_TRUE(straight.plan.notes[2].named);
  EXPECT_TRUE(straight.plan.undefined.empty());
}

TEST(Plan, CountersOfLoopsLeaveNoSteps) {
  const KernelPlan loop("ld.param.u64 %rd1, [a]; mov.u32 %r1, 0; L: add.s64 %rd1, %rd1, 4; ld.global.u32 %r2, [%rd1];\n"
                        "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra L;");
  EXPECT_EQ(loop.kinds(), Kinds{StepKind::Load});
}

TEST(Plan, ARegisterOfSeveralValuesIsDefinedBySteps) {
  const KernelPlan merge("ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u64 %rd3, %rd1; @%p1 bra L;\n"
                         "mov.u64 %rd3, %rd2; L: ld.global.u32 %r1, [%rd3];");
  EXPECT_EQ(merge.kinds(), (Kinds{StepKind::Compute, StepKind::Compute, StepKind::Load}));
  EXPECT_FALSE(merge.plan.steps[1].late) << "nothing has read it yet";
}

TEST(Plan, WhatIsReadBeforeItsDefinitionKeepsItsStep) {
  const KernelPlan early("L: add.u64 %rd2, %rd1, 4; ld.param.u64 %rd1, [a]; st.global.u32 [%rd2], %r1; @%p1 bra L;");
  EXPECT_EQ(early.kinds(), (Kinds{StepKind::Compute, StepKind::Compute, StepKind::Store}));
  EXPECT_TRUE(early.plan.steps[1].late);
}

TEST(Plan, AParameterThatIsWrittenIsACell) {
  const KernelPlan written("st.param.u64 [a], 0; ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(written.kinds(), (Kinds{StepKind::StoreCell, StepKind::LoadCell, StepKind::Load}));
}

} // namespace
} // namespace tenon::linker
