// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class TopkTest : public AlongTest {
protected:
  AlongPlans topk(const std::string &tensor, const std::string &values, const std::string &indices) {
    return plansOf({tensor, values, indices},
                   "topk dimension(1) ins(%x : " + tensor + ") outs(%y, %z : " + values + ", " + indices +
                       ") {\n^bb0(%a: f32, %b: f32):\n%s = arith.cmpf ogt, %a, %b : f32\niree_linalg_ext.yield %s : "
                       "i1\n}",
                   {values, indices});
  }
};

TEST_F(TopkTest, ABlockForEachLineReadsItOnce) {
  AlongPlans plans = topk("tensor<1024x131072xf32>", "tensor<1024x50xf32>", "tensor<1024x50xi32>");
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "capacity"), 2048);
  EXPECT_EQ(choice(plans.kernels[0], "position"), 32);
}

TEST_F(TopkTest, FewLongLinesAreCut) {
  AlongPlans plans = topk("tensor<2x1000000xf32>", "tensor<2x50xf32>", "tensor<2x50xi32>");
  ASSERT_EQ(plans.kernels.size(), 2u);
  ASSERT_EQ(plans.scratch.size(), 2u);
  EXPECT_TRUE(plans.scratch[0].element.isF32());
  EXPECT_TRUE(plans.scratch[1].element.isInteger(32));
}

TEST_F(TopkTest, AThreadKeepsWhatNoBlockHolds) {
  AlongPlans plans = topk("tensor<4x100000xf32>", "tensor<4x5000xf32>", "tensor<4x5000xi32>");
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "capacity"), 0);
}

} // namespace
} // namespace tenon::compiler::codegen
