// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/few_kernels.h"

#include "gtest/gtest.h"

#include <cmath>

namespace tenon::compiler::codegen {
namespace {

using Runs = std::vector<bool>;

TEST(FewKernels, OneIsEnoughWhereOthersGainNothing) {
  const std::vector<FewKernel> few = fewKernelsOf({{64, 128, 256}, {{5, 9, 17}, {5, 9.1, 17}, {20, 20, 20}}}, 4);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].number, 0u);
  EXPECT_EQ(few[0].runs, Runs({true, true, true}));
}

TEST(FewKernels, EachRunsWhereItIsTheFastest) {
  // The first is faster where its tiles are whole.
  const std::vector<FewKernel> few =
      fewKernelsOf({{64, 128, 192, 256}, {{10, 10, 30, 20}, {15, 15, 15, 30}, {90, 90, 90, 19}}}, 2);
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].number, 0u);
  EXPECT_EQ(few[0].runs, Runs({true, true, false, true}));
  EXPECT_EQ(few[1].number, 1u);
  EXPECT_EQ(few[1].runs, Runs({false, false, true, false}));
}

TEST(FewKernels, WhatCannotRunSomewhereIsNoFirst) {
  const std::vector<FewKernel> few = fewKernelsOf({{64, 128, 256}, {{1, 1, HUGE_VAL}, {4, 4, 4}}}, 4);
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].number, 0u);
  EXPECT_EQ(few[0].runs, Runs({true, true, false}));
}

TEST(FewKernels, NeighboursKeepAKernelThatIsHardlySlower) {
  const std::vector<FewKernel> few = fewKernelsOf({{64, 128, 256, 512}, {{10, 10, 10, 90}, {90, 9.8, 10.2, 10}}}, 4);
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[1].runs, Runs({false, true, true, true})) << "one border, not three";
}

TEST(FewKernels, GuardsLeaveOutNoLengthAndTakeNoneTwice) {
  const std::vector<int64_t> sizes = {32, 64, 96, 128, 160};
  const Runs first = {true, false, true, false, true};
  Runs second = first;
  second.flip();
  const Guard one = guardedBySize({}, sizes, first), other = guardedBySize({}, sizes, second);
  EXPECT_FALSE(one.most);
  EXPECT_EQ(one.gaps.size(), 2u);
  EXPECT_EQ(other.above, 32);
  EXPECT_EQ(other.most, 128);
  for (int64_t length : {0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 128, 129, 160, 161, 1 << 20}) {
    EXPECT_NE(one.holdsFor(length), other.holdsFor(length)) << length;
    const auto *size = llvm::find_if(llvm::ArrayRef(sizes), [&](int64_t each) { return length <= each; });
    if (size != llvm::ArrayRef(sizes).end())
      EXPECT_EQ(one.holdsFor(length), first[size_t(size - sizes.data())]) << length;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
