// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/tile_transform.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class TileTransformTest : public AlongTest {
protected:
  /// Tiles of 4 x 4 places, two apart, of 3 images of 7 x 7 places and 5 channels.
  Plan planesOf(const std::string &low = "1, 1", bool isTurned = false) {
    const std::string image = "tensor<3x7x7x5xf32>", planes = isTurned ? "tensor<16x5x48xf32>" : "tensor<16x48x5xf32>";
    return planOf(
        {image},
        "tile_transform {matrix = array<f64: -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, "
        "-1.0, 0.0, 1.0>, rows = 4 : i64, order = array<i64: 0, 1, 2, 3>, tiles = array<i64: 4, 4>, low = "
        "array<i64: " +
            low + ">, step = 2 : i64, turned = " + (isTurned ? "true" : "false") + ", maps = []} ins(%x : " + image +
            ") outs(%o : " + planes + ")",
        planes);
  }
  Plan imageOf(const std::string &image, const std::string &tiles, const std::string &planes) {
    return planOf(
        {planes},
        "tile_transform {matrix = array<f64: 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0>, rows = 2 : i64, order = "
        "array<i64: 0, 1, 2, 3>, tiles = array<i64: " +
            tiles + ">, low = array<i64: 0, 0>, step = 2 : i64, turned = false, maps = []} ins(%x : " + planes +
            ") outs(%o : " + image + ")",
        image);
  }
  Plan planOf(const std::vector<std::string> &arguments, const std::string &operation, const std::string &result) {
    AlongPlans plans = plansOf(arguments, operation, {result}, "%o = tensor.empty() : " + result);
    EXPECT_EQ(plans.kernels.size(), 1u);
    EXPECT_TRUE(plans.scratch.empty());
    return plans.kernels.front();
  }
};

TEST_F(TileTransformTest, AThreadHasATileOfAChannel) {
  const Plan plan = planesOf();
  ASSERT_EQ(plan.grid.size(), 1u);
  EXPECT_EQ(plan.grid[0].extents[0].size * plan.grid[0].extents[1].size, 48 * 5);
  EXPECT_EQ(plan.grid[0].perBlock, int64_t(plan.threads));
  mlir::LLVM::LLVMFuncOp kernel = emit(plan);
  EXPECT_EQ(count(kernel, "llvm.store"), 16u);
}

TEST_F(TileTransformTest, PlacesThatMayBeOutsideAreAskedAbout) {
  mlir::LLVM::LLVMFuncOp kernel = emit(planesOf());
  EXPECT_EQ(count(kernel, "llvm.load"), 1u) << "the second place of each side is always inside";
  EXPECT_EQ(count(kernel, "llvm.inline_asm"), 15u);
}

TEST_F(TileTransformTest, OfAnImageWhoseRowsLieSideBySideABlockTurnsTiles) {
  const std::string image = "tensor<3x40x7x7xf32>", planes = "tensor<16x48x40xf32>";
  const Plan plan =
      planOf({image},
             "tile_transform {matrix = array<f64: -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, "
             "0.0, 0.0, -1.0, 0.0, 1.0>, rows = 4 : i64, order = array<i64: 0, 2, 3, 1>, tiles = array<i64: "
             "4, 4>, low = array<i64: 1, 1>, step = 2 : i64, turned = false, maps = []} ins(%x : " +
                 image + ") outs(%o : " + planes + ")",
             planes);
  EXPECT_EQ(choice(plan, "across"), 1);
  ASSERT_EQ(plan.grid.size(), 2u);
  EXPECT_EQ(plan.threads, 256u);
  mlir::LLVM::LLVMFuncOp kernel = emit(plan);
  EXPECT_EQ(count(kernel, "llvm.store"), 32u) << "to shared memory, and from there";
}

TEST_F(TileTransformTest, PartsOfASumAreAddedUp) {
  EXPECT_EQ(count(emit(imageOf("tensor<3x8x8x5xf32>", "4, 4", "tensor<32x48x5xf32>")), "llvm.load"), 32u);
}

TEST_F(TileTransformTest, TilesThatEndOutsideAreCut) {
  EXPECT_EQ(count(emit(imageOf("tensor<3x8x8x5xf32>", "4, 4", "tensor<16x48x5xf32>")), "llvm.store"), 4u);
  EXPECT_EQ(count(emit(imageOf("tensor<3x8x8x5xf32>", "4, 4", "tensor<16x48x5xf32>")), "scf.if"), 1u);
  EXPECT_EQ(count(emit(imageOf("tensor<3x7x7x5xf32>", "4, 4", "tensor<16x48x5xf32>")), "scf.if"), 4u)
      << "the second row, and a second place of each row";
}

} // namespace
} // namespace tenon::compiler::codegen
