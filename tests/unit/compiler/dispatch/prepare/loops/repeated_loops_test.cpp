// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/repeated_loops.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class RepeatedLoops : public KernelTextTest {
protected:
  /// A copy of %w whose loops are `loops`, read as `read`, reshaped by `groups`.
  mlir::linalg::GenericOp folded(const std::string &weight, const std::string &loops, const std::string &read,
                                 const std::string &repeated, const std::string &groups, const std::string &result) {
    auto function = parseFunction("#read = affine_map<" + loops + " -> " + read + ">\n#id = affine_map<" + loops +
                                  " -> " + loops + ">\n" + "func.func @f(%w: " + weight + ", %e: " + repeated +
                                  ") -> " + result + R"mlir( {
      %0 = linalg.generic {indexing_maps = [#read, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%w : )mlir" + weight +
                                  ") outs(%e : " + repeated + R"mlir() {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> )mlir" + repeated + "\n%1 = tensor.collapse_shape %0 " +
                                  groups + " : " + repeated + " into " + result + "\nreturn %1 : " + result + "\n}");
    foldRepeatedLoops(function);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    auto *made = function.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
    if (auto cast = mlir::dyn_cast<mlir::tensor::CastOp>(made))
      made = cast.getSource().getDefiningOp();
    return mlir::dyn_cast<mlir::linalg::GenericOp>(made);
  }
};

TEST_F(RepeatedLoops, WeightsOfManyInputsAreRepeatedAlongOneLoop) {
  auto op = folded("tensor<4x5xf32>", "(a, b, k, n)", "(k, n)", "tensor<2x3x4x5xf32>", "[[0, 1], [2], [3]]",
                   "tensor<6x4x5xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getNumLoops(), 3u);
  EXPECT_EQ(op.getIndexingMapsArray().front(),
            mlir::AffineMap::get(3, 0, {mlir::getAffineDimExpr(1, &context_), mlir::getAffineDimExpr(2, &context_)},
                                 &context_));
}

TEST_F(RepeatedLoops, SizesMayBeUnknown) {
  auto op = folded("tensor<4x5xf32>", "(a, b, k, n)", "(n, k)", "tensor<?x3x5x4xf32>", "[[0, 1], [2], [3]]",
                   "tensor<?x5x4xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getNumLoops(), 3u);
}

TEST_F(RepeatedLoops, OneThatIsReadMayHaveOnesBesideIt) {
  auto op = folded("tensor<4x5xf32>", "(a, b, k, n)", "(k, n)", "tensor<2x1x4x5xf32>", "[[0], [1, 2], [3]]",
                   "tensor<2x4x5xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getNumLoops(), 3u);
}

TEST_F(RepeatedLoops, WhatIsReadInTwoLoopsStays) {
  EXPECT_FALSE(folded("tensor<4x5xf32>", "(a, b, k, n)", "(k, n)", "tensor<2x3x4x5xf32>", "[[0], [1], [2, 3]]",
                      "tensor<2x3x20xf32>"));
  EXPECT_FALSE(folded("tensor<4x5xf32>", "(a, b, k, n)", "(k, n)", "tensor<2x3x4x5xf32>", "[[0], [1, 2], [3]]",
                      "tensor<2x12x5xf32>"));
}

} // namespace
} // namespace tenon::compiler::dispatch
