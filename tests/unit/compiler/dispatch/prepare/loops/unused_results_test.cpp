// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unused_results.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

/// The largest of each row, and where it is; of both, `returned`. The larger is chosen by `by`.
std::string largestAndPlace(const std::string &returned, const std::string &type, const std::string &by) {
  return R"mlir(
func.func @f(%x: tensor<4x9xf32>, %low: tensor<4xf32>, %zero: tensor<4xi64>) -> )mlir" +
         type + R"mlir( {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x9xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
    ^bb0(%e: f32, %largest: f32, %place: i64):
      %j = linalg.index 1 : index
      %here = arith.index_cast %j : index to i64
      %more = arith.cmpf ogt, %e, %largest : f32
      %late = arith.cmpi sgt, %here, %place : i64
      %value = arith.select %)mlir" +
         by + R"mlir(, %e, %largest : f32
      %at = arith.select %more, %here, %place : i64
      linalg.yield %value, %at : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return )mlir" +
         returned + " : " + type + "\n}\n";
}

class UnusedResultsTest : public KernelTextTest {
protected:
  mlir::linalg::GenericOp dropped(const std::string &text) {
    auto function = parseFunction(text);
    dropUnusedResults(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
};

TEST_F(UnusedResultsTest, ThePlaceOfAMaximumThatNobodyReadsIsNotComputed) {
  auto op = dropped(largestAndPlace("%r#0", "tensor<4xf32>", "more"));
  ASSERT_EQ(op->getNumResults(), 1u);
  EXPECT_EQ(op.getBody()->getNumArguments(), 2u);
  EXPECT_EQ(std::distance(op.getBody()->begin(), op.getBody()->end()), 3); // a comparison, a choice, what is yielded
}

TEST_F(UnusedResultsTest, WhatAnotherResultIsComputedFromStays) {
  EXPECT_EQ(dropped(largestAndPlace("%r#1", "tensor<4xi64>", "more"))->getNumResults(), 2u);
  EXPECT_EQ(dropped(largestAndPlace("%r#0", "tensor<4xf32>", "late"))->getNumResults(), 2u);
}

TEST_F(UnusedResultsTest, SizesThatOnlyItSaysKeepAResult) {
  auto op = dropped(R"mlir(
func.func @f(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<4x9xf32>) -> tensor<4xf32> {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<f32>) outs(%b, %c : tensor<4xf32>, tensor<4x9xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      linalg.yield %x, %x : f32, f32
  } -> (tensor<4xf32>, tensor<4x9xf32>)
  return %r#0 : tensor<4xf32>
}
)mlir");
  EXPECT_EQ(op->getNumResults(), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
