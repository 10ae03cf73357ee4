// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/multiply_tiles.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/winograd/taken_in.h"
#include "tests/unit/compiler/dispatch/winograd/layers.h"

namespace tenon::compiler::dispatch {
namespace {

class MultiplyTiles : public WinogradTest {
protected:
  /// @return whether it was; the module is one that verifies then
  bool multiplied(const Shape &shape) {
    const std::optional<Convolution> found = Convolution::of(convolutionOf(shape));
    EXPECT_TRUE(found) << messages_;
    const bool isMultiplied = found && multiplyTiles(*found, /*print=*/false);
    function_ = *module_->getOps<mlir::func::FuncOp>().begin();
    takeInBehind(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return isMultiplied;
  }
  llvm::SmallVector<linalg_ext::TileTransformOp> transforms() {
    return llvm::to_vector(function_.getOps<linalg_ext::TileTransformOp>());
  }
  /// Those that multiply, of three parallel loops and one.
  llvm::SmallVector<mlir::linalg::GenericOp> products() {
    llvm::SmallVector<mlir::linalg::GenericOp> found;
    for (mlir::linalg::GenericOp op : function_.getOps<mlir::linalg::GenericOp>())
      if (op.getNumReductionLoops() == 1)
        found.push_back(op);
    return found;
  }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
  static std::string pin(int side) { return " attrs = {tenon.tile_side = " + std::to_string(side) + " : i64}"; }

  mlir::func::FuncOp function_;
};

TEST_F(MultiplyTiles, PlanesAreMultipliedAndBecomeTheResult) {
  ASSERT_TRUE(multiplied({.attributes = pin(6)}));
  auto made = transforms();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(shapeOf(made[0].getResult()), (llvm::ArrayRef<int64_t>{36, 8 * 8 * 8, 64})) << "30 places are 8 tiles of 4";
  EXPECT_EQ(shapeOf(made[1].getResult()), (llvm::ArrayRef<int64_t>{36, 48, 64}));
  ASSERT_EQ(products().size(), 1u);
  EXPECT_EQ(shapeOf(products()[0].getResult(0)), (llvm::ArrayRef<int64_t>{36, 8 * 8 * 8, 48}));
  EXPECT_EQ(made[2].getRows(), 4u);
  EXPECT_EQ(function_.front().getTerminator()->getOperand(0), made[2].getResult());
}

TEST_F(MultiplyTiles, TilesMayBeSmaller) {
  ASSERT_TRUE(multiplied({.attributes = pin(4)}));
  EXPECT_EQ(shapeOf(transforms()[0].getResult()), (llvm::ArrayRef<int64_t>{16, 8 * 16 * 15, 64}));
}

TEST_F(MultiplyTiles, OfChannelsFirstPlanesHaveTilesSideBySide) {
  ASSERT_TRUE(multiplied({.image = "d0, d4, d2 + d5, d3 + d6",
                          .filters = "d1, d4, d5, d6",
                          .out = "d0, d1, d2, d3",
                          .attributes = pin(6)}));
  EXPECT_EQ(shapeOf(transforms()[0].getResult()), (llvm::ArrayRef<int64_t>{36, 64, 8 * 8 * 8}));
  EXPECT_EQ(shapeOf(products()[0].getResult(0)), (llvm::ArrayRef<int64_t>{36, 48, 8 * 8 * 8}));
}

TEST_F(MultiplyTiles, ByFiltersTilesAreSummed) {
  ASSERT_TRUE(multiplied({.image = "d6, d4 + d2, d5 + d3, d1",
                          .filters = "d6, d4, d5, d0",
                          .out = "d0, d2, d3, d1",
                          .sizes = {48, 64, 3, 3, 32, 30, 8},
                          .reductions = 3,
                          .attributes = pin(6)}));
  auto made = transforms();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(shapeOf(made[0].getResult()), (llvm::ArrayRef<int64_t>{36, 8 * 8 * 8, 64}));
  EXPECT_EQ(shapeOf(made[1].getResult()), (llvm::ArrayRef<int64_t>{36, 8 * 8 * 8, 48}));
  EXPECT_EQ(shapeOf(products()[0].getResult(0)), (llvm::ArrayRef<int64_t>{36, 48, 64}));
  EXPECT_EQ(made[2].getRows(), 3u);
}

TEST_F(MultiplyTiles, WhatIsComputedFromEachResultIsTakenIn) {
  const std::string out = "tensor<8x32x30x48xf32>", all = "affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>";
  const std::string relu =
      "%q0 = tensor.empty() : " + out + "\n%q = linalg.generic {indexing_maps = [" + all +
      ", affine_map<(d0, d1, d2, d3) -> (d3)>, " + all +
      "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%r, %b : " + out +
      ", tensor<48xf32>) outs(%q0 : " + out +
      ") {\n^bb0(%v: f32, %w: f32, %z: f32):\n%y = arith.addf %v, %w : f32\n%k = arith.constant 0.0 : f32\n"
      "%h = arith.maximumf %y, %k : f32\nlinalg.yield %h : f32\n} -> " +
      out + "\n";
  ASSERT_TRUE(multiplied({.attributes = pin(6), .behind = relu}));
  auto made = transforms();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[2].getInputs().size(), 2u);
  EXPECT_FALSE(made[2].getRegion().empty());
  EXPECT_EQ(function_.front().getTerminator()->getOperand(0), made[2].getResult());
}

TEST_F(MultiplyTiles, AKernelThatTheProgramPinsIsOfADirectOne) {
  EXPECT_FALSE(multiplied({.attributes = pin(6), .pin = " {tenon.tile = {by = \"threads\"}}"}));
}

} // namespace
} // namespace tenon::compiler::dispatch
