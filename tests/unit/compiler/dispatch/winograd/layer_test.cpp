// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/layer.h"

#include "tests/unit/compiler/dispatch/winograd/layers.h"

namespace tenon::compiler::dispatch {
namespace {

using LayerTest = WinogradTest;

TEST_F(LayerTest, ChannelsLast) {
  const auto found = layer({});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->isOfFilters);
  EXPECT_FALSE(found->isBackwards);
  EXPECT_EQ(found->window, 3);
  EXPECT_EQ(found->images, 8);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->places, (std::array<int64_t, 2>{32, 30}));
  EXPECT_EQ(found->low, (std::array<int64_t, 2>{0, 0}));
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_FALSE(found->isFirstSummed);
  EXPECT_EQ(found->operations(), 2.0 * 8 * 32 * 30 * 64 * 48 * 9);
}

TEST_F(LayerTest, ChannelsFirst) {
  const auto found = layer({.image = "d0, d4, d2 + d5, d3 + d6", .filters = "d4, d1, d5, d6", .out = "d0, d1, d2, d3"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_TRUE(found->isFirstSummed);
}

TEST_F(LayerTest, FiltersThatAreReadBackwards) {
  const auto found = layer({.image = "d0, d2 - d5 + 2, d3 - d6 + 2, d4"});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isBackwards);
  EXPECT_EQ(found->low, (std::array<int64_t, 2>{0, 0}));
}

TEST_F(LayerTest, TheGradientByFilters) {
  // Loops: k, c of filters, r, s; n, y, x.
  const auto found = layer({.image = "d6, d4 + d2, d5 + d3, d1",
                            .filters = "d6, d4, d5, d0",
                            .out = "d0, d2, d3, d1",
                            .sizes = {48, 64, 3, 3, 32, 30, 8},
                            .reductions = 3});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isOfFilters);
  EXPECT_EQ(found->window, 3);
  EXPECT_EQ(found->images, 8);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->places, (std::array<int64_t, 2>{32, 30}));
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_FALSE(found->isFirstOfImage);
}

/// The border's image has its dimensions in the order y, c, x, n: what is convolved is the tensor that has the border.
TEST_F(LayerTest, ABorderAroundAnImageOfAnotherOrder) {
  mlir::func::FuncOp function = parseFunction(R"mlir(
func.func @f(%x: tensor<8x5x6x2xf32>, %f: tensor<12x3x3x5xf32>) -> tensor<8x6x2x12xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %t = tensor.empty() : tensor<10x8x5x2xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%t : tensor<10x8x5x2xf32>) {
  ^bb0(%o: f32):
    %y = linalg.index 0 : index
    %x0 = linalg.index 1 : index
    %c = linalg.index 2 : index
    %n = linalg.index 3 : index
    %y1 = arith.subi %y, %c1 : index
    %isRow = arith.cmpi ult, %y1, %c8 : index
    %x1 = arith.subi %x0, %c1 : index
    %isColumn = arith.cmpi ult, %x1, %c6 : index
    %isInside = arith.andi %isRow, %isColumn : i1
    %y2 = arith.minsi %y1, %c7 : index
    %y3 = arith.maxsi %y2, %c0 : index
    %x2 = arith.minsi %x1, %c5 : index
    %x3 = arith.maxsi %x2, %c0 : index
    %v = tensor.extract %x[%y3, %c, %x3, %n] : tensor<8x5x6x2xf32>
    %q = arith.select %isInside, %v, %zero : f32
    linalg.yield %q : f32
  } -> tensor<10x8x5x2xf32>
  %e = tensor.empty() : tensor<8x6x2x12xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6x2x12xf32>) -> tensor<8x6x2x12xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(y, x, n, k, r, s, c) -> (y + r, x + s, c, n)>, affine_map<(y, x, n, k, r, s, c) -> (k, r, s, c)>, affine_map<(y, x, n, k, r, s, c) -> (y, x, n, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %f : tensor<10x8x5x2xf32>, tensor<12x3x3x5xf32>) outs(%s : tensor<8x6x2x12xf32>) attrs = {tenon.tile_side = 6 : i64} {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %m = arith.mulf %a, %b : f32
    %u = arith.addf %sum, %m : f32
    linalg.yield %u : f32
  } -> tensor<8x6x2x12xf32>
  return %p : tensor<8x6x2x12xf32>
})mlir");
  const auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 2u);
  const std::optional<Convolution> convolution = Convolution::of(ops[1]);
  ASSERT_TRUE(convolution);
  const auto found = WindowLayer::of(*convolution);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image, ops[0]->getResult(0));
  EXPECT_EQ(found->low, (std::array<int64_t, 2>{0, 0}));
}

TEST_F(LayerTest, OthersAreNone) {
  EXPECT_FALSE(layer({.type = "f64"}));
  EXPECT_FALSE(layer({.image = "d0, d2 * 2 + d5, d3 * 2 + d6, d4"})) << "in steps of two";
  EXPECT_FALSE(layer({.image = "d0, d2 + d5 * 2, d3 + d6 * 2, d4"})) << "dilated";
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 3, 5}})) << "no square";
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 4, 4}}));
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 7, 7}}));
  EXPECT_FALSE(layer({.image = "d0, d2 + d5, d3 - d6 + 2, d4"})) << "one side backwards";
  EXPECT_FALSE(layer({.start = "1.0"})) << "sums that start from something";
  EXPECT_FALSE(layer({.unread = 1})) << "tiles would read what no window does";
  EXPECT_TRUE(layer({.sizes = {8, 48, 32, 30, 64, 5, 5}}));
}

} // namespace
} // namespace tenon::compiler::dispatch
