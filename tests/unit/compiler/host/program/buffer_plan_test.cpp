// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/buffer_plan.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

TEST(BufferPlan, NeverOverwritesInputsOrConstants) {
  BufferPlan plan;
  EXPECT_FALSE(plan.mayOverwrite(plan.addInput(0), 100));
  EXPECT_FALSE(plan.mayOverwrite(plan.addConstant(0), 100));
}

TEST(BufferPlan, OverwritesATransientAtItsLastUse) {
  BufferPlan plan;
  BufferIndex buffer = plan.addTransient(0, 5);
  EXPECT_FALSE(plan.mayOverwrite(buffer, 4)) << "read at 5";
  EXPECT_TRUE(plan.mayOverwrite(buffer, 5));
}

TEST(BufferPlan, ATiedResultBringsItsOwnLastUse) {
  BufferPlan plan;
  BufferIndex buffer = plan.addTransient(0, 5);
  plan.takeOver(buffer, 9);
  EXPECT_FALSE(plan.mayOverwrite(buffer, 8));
  EXPECT_TRUE(plan.mayOverwrite(buffer, 9));
}

TEST(BufferPlan, OneBufferPerConstant) {
  BufferPlan plan;
  BufferIndex first = plan.addConstant(1);
  EXPECT_EQ(plan.addConstant(1), first);
  EXPECT_NE(plan.addConstant(2), first);
  EXPECT_EQ(plan.buffers().size(), 2u);
}

} // namespace
} // namespace tenon::compiler::host
