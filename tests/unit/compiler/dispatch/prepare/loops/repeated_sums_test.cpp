// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/repeated_sums.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class RepeatedSums : public KernelTextTest {
protected:
  /// Sums of %w along k for each b and n, read as `read`, from `start`; `before`: what the body does first.
  mlir::func::FuncOp sums(const std::string &read, const std::string &weight, const std::string &start = "%fill",
                          const std::string &before = "") {
    return parseFunction("#read = affine_map<(b, n, k) -> " + read + ">\nfunc.func @f(%w: " + weight +
                         R"mlir(, %given: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x6xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
      %0 = linalg.generic {indexing_maps = [#read, affine_map<(b, n, k) -> (b, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : )mlir" +
                         weight + ") outs(" + start + R"mlir( : tensor<4x6xf32>) {
        ^bb0(%a: f32, %s: f32):
          )mlir" + before +
                         R"mlir(
          %t = arith.addf %s, %a : f32
          linalg.yield %t : f32
      } -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    })mlir");
  }
  static mlir::linalg::GenericOp resultOf(mlir::func::FuncOp function) {
    return function.getBody().front().getTerminator()->getOperand(0).getDefiningOp<mlir::linalg::GenericOp>();
  }
  /// The sum that is computed once, and that the result reads.
  mlir::linalg::GenericOp onceOf(mlir::func::FuncOp function) {
    EXPECT_TRUE(reduceOnce(function));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return resultOf(function).getDpsInputs()[0].getDefiningOp<mlir::linalg::GenericOp>();
  }
};

TEST_F(RepeatedSums, AreComputedOnceAndRead) {
  auto function = sums("(n, k)", "tensor<6x5xf32>");
  EXPECT_TRUE(reduceOnce(function));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  auto each = resultOf(function);
  ASSERT_TRUE(each);
  EXPECT_EQ(each.getNumReductionLoops(), 0u);
  EXPECT_EQ(each.getIndexingMapsArray().front(), mlir::AffineMap::get(2, 0, {mlir::getAffineDimExpr(1, &context_)}));
  auto once = each.getDpsInputs()[0].getDefiningOp<mlir::linalg::GenericOp>();
  ASSERT_TRUE(once);
  EXPECT_EQ(once.getNumLoops(), 2u);
  EXPECT_EQ(once.getNumReductionLoops(), 1u);
  EXPECT_FALSE(reduceOnce(function)) << "there is no other";
}

TEST_F(RepeatedSums, OfOneRowAreNoWindow) {
  auto function = parseFunction(R"mlir(func.func @f(%w: tensor<6x5xf32>) -> tensor<1x6xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x6xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6xf32>) -> tensor<1x6xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(b, n, k) -> (n, k)>, affine_map<(b, n, k) -> (b, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<6x5xf32>) outs(%fill : tensor<1x6xf32>) {
        ^bb0(%a: f32, %s: f32):
          %t = arith.addf %s, %a : f32
          linalg.yield %t : f32
      } -> tensor<1x6xf32>
      return %0 : tensor<1x6xf32>
    })mlir");
  auto once = onceOf(function);
  ASSERT_TRUE(once);
  EXPECT_EQ(once.getNumLoops(), 2u);
}

TEST_F(RepeatedSums, MayBeOneForAll) {
  auto function = sums("(k)", "tensor<5xf32>");
  auto once = onceOf(function);
  ASSERT_TRUE(once);
  EXPECT_EQ(once.getNumLoops(), 1u);
}

TEST_F(RepeatedSums, ADimensionThatACopyAddsIsNoLoopOfThem) {
  auto function = parseFunction(R"mlir(
    func.func @f(%w: tensor<6x5xf32>) -> tensor<1x4x6xf32> {
      %zero = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<1x5x6xf32>
      %turned = linalg.generic {indexing_maps = [affine_map<(a, k, n) -> (n, k)>, affine_map<(a, k, n) -> (a, k, n)>],
          iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<6x5xf32>) outs(%t : tensor<1x5x6xf32>) {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> tensor<1x5x6xf32>
      %e = tensor.empty() : tensor<1x4x6xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(a, b, n, k) -> (a, k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%turned : tensor<1x5x6xf32>) outs(%fill : tensor<1x4x6xf32>) {
        ^bb0(%x: f32, %s: f32):
          %r = arith.addf %s, %x : f32
          linalg.yield %r : f32
      } -> tensor<1x4x6xf32>
      return %0 : tensor<1x4x6xf32>
    })mlir");
  auto once = onceOf(function);
  ASSERT_TRUE(once);
  EXPECT_EQ(once.getNumLoops(), 2u);
  EXPECT_EQ(once.getDpsInputs()[0], function.getArgument(0));
}

TEST_F(RepeatedSums, WhatDependsOnTheLoopStays) {
  auto all = sums("(b, n, k)", "tensor<4x6x5xf32>");
  EXPECT_FALSE(reduceOnce(all));
  auto started = sums("(n, k)", "tensor<6x5xf32>", "%given");
  EXPECT_FALSE(reduceOnce(started)) << "each starts from another number";
  auto indexed = sums("(n, k)", "tensor<6x5xf32>", "%fill", "%i = linalg.index 0 : index");
  EXPECT_FALSE(reduceOnce(indexed));
}

} // namespace
} // namespace tenon::compiler::dispatch
