// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scatter.h"

#include "compiler/codegen/along/scatter_places.h"
#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class ScatterTest : public AlongTest {
protected:
  /// What the kernel behind the copy does.
  int64_t modeOf(const std::string &type, const std::string &operation, const std::string &into, bool unique = false) {
    const std::string tensor = "tensor<" + into + "x" + type + ">", updates = "tensor<5000x" + type + ">";
    AlongPlans plans =
        plansOf({updates, "tensor<5000x1xi32>", tensor},
                std::string("scatter dimension_map = [0] unique_indices(") + (unique ? "true" : "false") +
                    ") ins(%x, %y : " + updates + ", tensor<5000x1xi32>) outs(%z : " + tensor +
                    ") {\n^bb0(%a: " + type + ", %b: " + type + "):\n%s = " + operation + " %a, %b : " + type +
                    "\niree_linalg_ext.yield %s : " + type + "\n}",
                {tensor});
    EXPECT_EQ(plans.kernels.size(), 2u);
    EXPECT_EQ(choice(plans.kernels[0], "mode"), 0); // copied
    return choice(plans.kernels[1], "mode");
  }
};

TEST_F(ScatterTest, WhatDependsOnTheOrderRunsInOrder) {
  EXPECT_EQ(modeOf("f32", "arith.addf", "256"), 4);
  EXPECT_EQ(modeOf("i32", "arith.subi", "256"), 4);
  EXPECT_EQ(modeOf("i16", "arith.addi", "256"), 4); // no atomic operations on 16 bits
}

TEST_F(ScatterTest, IntegersAreCombinedByAtomics) {
  EXPECT_EQ(modeOf("i32", "arith.addi", "256"), 3);     // counted in shared memory
  EXPECT_EQ(modeOf("i32", "arith.addi", "1000000"), 2); // too many places for that
  EXPECT_EQ(modeOf("i64", "arith.maxsi", "100000"), 2);
}

TEST_F(ScatterTest, OfUnknownNumbersFewAreCountedByMoreBlocks) {
  AlongPlans plans = plansOf({"tensor<?xi32>", "tensor<?x1xi32>", "tensor<256xi32>"},
                             "scatter dimension_map = [0] unique_indices(false) ins(%x, %y : tensor<?xi32>, "
                             "tensor<?x1xi32>) outs(%z : tensor<256xi32>) {\n^bb0(%a: i32, %b: i32):\n"
                             "%s = arith.addi %a, %b : i32\niree_linalg_ext.yield %s : i32\n}",
                             {"tensor<256xi32>"});
  ASSERT_EQ(plans.kernels.size(), 3u);
  const Plan &few = plans.kernels[1], &many = plans.kernels[2];
  EXPECT_LT(choice(few, "counted"), choice(many, "counted"));
  for (int64_t updates : {0, 1, 1 << 24, (1 << 24) + 1, 1 << 30})
    EXPECT_NE(few.guards[0].holdsFor(updates), many.guards[0].holdsFor(updates)) << updates;
}

TEST_F(ScatterTest, WhatIsUniqueIsStored) {
  EXPECT_EQ(modeOf("f32", "arith.addf", "256", /*unique=*/true), 1);
}

TEST_F(ScatterTest, SlicesOverlapAlongNamedDimensions) {
  auto overlaps = [&](const std::string &updates) {
    auto kernel = read({updates, "tensor<7x1xi32>", "tensor<9x4xf32>"},
                       "scatter dimension_map = [0] unique_indices(false) ins(%x, %y : " + updates +
                           ", tensor<7x1xi32>) outs(%z : tensor<9x4xf32>) {\n^bb0(%a: f32, %b: f32):\n"
                           "iree_linalg_ext.yield %a : f32\n}",
                       {"tensor<9x4xf32>"});
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return ScatterShape(*kernel).overlaps;
  };
  EXPECT_FALSE(overlaps("tensor<7x4xf32>"));
  EXPECT_FALSE(overlaps("tensor<7x1x4xf32>"));
  EXPECT_TRUE(overlaps("tensor<7x2x4xf32>"));
}

} // namespace
} // namespace tenon::compiler::codegen
