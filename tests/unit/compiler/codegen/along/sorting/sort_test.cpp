// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/sort.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class SortTest : public AlongTest {
protected:
  static constexpr const char *kMagnitudes = "%c = math.absf %a : f32\n%d = math.absf %b : f32\n"
                                             "%s = arith.cmpf olt, %c, %d : f32";
  AlongPlans sort(const std::string &tensor, const std::string &compare = "%s = arith.cmpf olt, %a, %b : f32") {
    return plansOf({tensor},
                   "sort dimension(0) outs(%x : " + tensor + ") {\n^bb0(%a: f32, %b: f32):\n" + compare +
                       "\niree_linalg_ext.yield %s : i1\n}",
                   {tensor});
  }
};

TEST_F(SortTest, AShortLineIsSortedInSharedMemory) {
  AlongPlans plans = sort("tensor<100xf32>");
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "capacity"), 128);
  EXPECT_TRUE(plans.scratch.empty());
}

TEST_F(SortTest, LongerOnesAreSortedByDigits) {
  for (const char *tensor : {"tensor<1000xf32>", "tensor<20000xf32>"})
    for (const Plan &plan : sort(tensor).kernels)
      EXPECT_GE(std::max(choice(plan, "radix"), choice(plan, "sweep")), 0) << tensor;
}

TEST_F(SortTest, TilesOfALongLineAreMergedWhereThereAreNoDigits) {
  AlongPlans plans = sort("tensor<20000xf32>", kMagnitudes);
  ASSERT_EQ(plans.kernels.size(), 4u); // 4096 -> 8192 -> 16384 -> all
  EXPECT_EQ(choice(plans.kernels[1], "run"), 4096);
  EXPECT_EQ(choice(plans.kernels[1], "from"), 0);
  EXPECT_EQ(choice(plans.kernels[2], "from"), 1);
  EXPECT_EQ(choice(plans.kernels[3], "last"), 1);
  EXPECT_EQ(plans.scratch.size(), 4u); // two sets of a key and a position
}

TEST_F(SortTest, OfUnknownLengthOneOfTwoRuns) {
  AlongPlans plans = sort("tensor<?xf32>", kMagnitudes);
  ASSERT_EQ(plans.kernels.size(), 2u);
  EXPECT_EQ(*plans.kernels[0].guards[0].most, plans.kernels[1].guards[0].above);
  plans = sort("tensor<?xf32>");
  EXPECT_TRUE(plans.kernels[0].guards[0].orEmpty);
  EXPECT_EQ(*plans.kernels[0].guards[0].most, plans.kernels[1].guards[0].above);
}

} // namespace
} // namespace tenon::compiler::codegen
