// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/reduction_body.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class ReductionBody : public KernelTextTest {
protected:
  /// A reduction of rows of 4x8 whose body ends with `yield %r`.
  mlir::linalg::GenericOp reduction(const std::string &type, const std::string &body) {
    return firstGeneric("func.func @f(%a: tensor<4x8x" + type + ">, %e: tensor<4x" + type + ">) -> tensor<4x" + type +
                        "> {\n%v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> "
                        "(i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%a : tensor<4x8x" +
                        type + ">) outs(%e : tensor<4x" + type + ">) {\n^bb0(%x: " + type + ", %s: " + type + "):\n" +
                        body + "\nlinalg.yield %r : " + type + "\n} -> tensor<4x" + type + ">\nreturn %v : tensor<4x" +
                        type + ">\n}");
  }
};

TEST_F(ReductionBody, IsTheCombinerAndWhatItAdds) {
  auto op = reduction("f32", "%q = arith.mulf %x, %x : f32\n%r = arith.addf %s, %q : f32");
  auto accumulators = reductionBodyOf(op);
  ASSERT_TRUE(accumulators.has_value());
  ASSERT_EQ(accumulators->size(), 1u);
  EXPECT_EQ(accumulators->front().combiner, Combiner::AddF);
  EXPECT_TRUE(accumulators->front().contributed.getDefiningOp<mlir::arith::MulFOp>());
  EXPECT_TRUE(isTreeReduction(op));
}

TEST_F(ReductionBody, TheAccumulatorMayStandOnEitherSide) {
  EXPECT_TRUE(reductionBodyOf(reduction("i32", "%r = arith.maxsi %x, %s : i32")).has_value());
  EXPECT_TRUE(reductionBodyOf(reduction("i32", "%r = arith.maxsi %s, %x : i32")).has_value());
}

TEST_F(ReductionBody, WhatIsMoreThanOneOperationOfTheAccumulatorIsNone) {
  EXPECT_FALSE(reductionBodyOf(reduction("f32", "%q = arith.addf %s, %x : f32\n%r = arith.mulf %q, %q : f32")));
  EXPECT_FALSE(reductionBodyOf(reduction("f32", "%q = arith.mulf %s, %x : f32\n%r = arith.addf %s, %q : f32")));
  EXPECT_FALSE(reductionBodyOf(reduction("f32", "%r = arith.subf %s, %x : f32"))); // not associative
  EXPECT_FALSE(reductionBodyOf(reduction("f32", "%r = arith.negf %x : f32")));     // forgets it
}

TEST_F(ReductionBody, OfASliceIsATree) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<6x9xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + 2, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x9xf32>) outs(%e : tensor<4xf32>) {
        ^bb0(%x: f32, %s: f32):
          %t = arith.addf %s, %x : f32
          linalg.yield %t : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })mlir");
  EXPECT_TRUE(isTreeReduction(op));
}

/// The largest of what stands in x[3, j] behind a clamp, or of what several loops say together, with a weight for each
/// of j.
TEST_F(ReductionBody, OfElementsReadByPlaceIsATree) {
  auto with = [&](const std::string &index) {
    return isTreeReduction(firstGeneric(R"mlir(
    func.func @f(%x: tensor<4x8xi32>, %w: tensor<8xi32>, %e: tensor<4xi32>) -> tensor<4xi32> {
      %c6 = arith.constant 6 : index
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%w : tensor<8xi32>) outs(%e : tensor<4xi32>) {
        ^bb0(%a: i32, %s: i32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %p = )mlir" + index + R"mlir(
          %v = tensor.extract %x[%i, %p] : tensor<4x8xi32>
          %m = arith.maxsi %v, %a : i32
          %t = arith.maxsi %s, %m : i32
          linalg.yield %t : i32
      } -> tensor<4xi32>
      return %r : tensor<4xi32>
    })mlir"));
  };
  EXPECT_TRUE(with("arith.minsi %j, %c6 : index"));
  EXPECT_FALSE(with("arith.addi %i, %j : index")) << "a window: its elements are others' too";
  EXPECT_FALSE(with("arith.addi %i, %c6 : index")) << "the same for all of a row";
}

TEST_F(ReductionBody, AContractionIsNoTree) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %e: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
          affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%e : tensor<4x2xf32>) {
        ^bb0(%x: f32, %y: f32, %s: f32):
          %p = arith.mulf %x, %y : f32
          %t = arith.addf %s, %p : f32
          linalg.yield %t : f32
      } -> tensor<4x2xf32>
      return %r : tensor<4x2xf32>
    })mlir");
  EXPECT_TRUE(reductionBodyOf(op).has_value());
  EXPECT_FALSE(isTreeReduction(op));
}

TEST_F(ReductionBody, SumsOfNarrowTypesAreKeptWide) {
  mlir::OpBuilder b(&context_);
  EXPECT_TRUE(accumulatorType(Combiner::AddF, b.getF16Type()).isF32());
  EXPECT_TRUE(accumulatorType(Combiner::MaximumF, b.getF16Type()).isF16());
  EXPECT_TRUE(accumulatorType(Combiner::AddF, b.getF64Type()).isF64());
  EXPECT_TRUE(accumulatorType(Combiner::AddI, b.getI32Type()).isInteger(32));
}

TEST_F(ReductionBody, TheNeutralValueChangesNothing) {
  mlir::OpBuilder b(&context_);
  auto real = [&](Combiner combiner) {
    return llvm::cast<mlir::FloatAttr>(neutralOf(b, combiner, b.getF32Type())).getValue();
  };
  EXPECT_TRUE(real(Combiner::AddF).isNegZero()); // -0 + -0 is -0, where 0 + -0 is 0
  EXPECT_TRUE(real(Combiner::MulF).isExactlyValue(1.0));
  EXPECT_TRUE(real(Combiner::MaximumF).isInfinity() && real(Combiner::MaximumF).isNegative());
  EXPECT_TRUE(real(Combiner::MinNumF).isNaN());
  auto integer = [&](Combiner combiner) {
    return llvm::cast<mlir::IntegerAttr>(neutralOf(b, combiner, b.getIntegerType(8))).getValue();
  };
  EXPECT_TRUE(integer(Combiner::MaxS).isMinSignedValue());
  EXPECT_TRUE(integer(Combiner::MinU).isAllOnes());
  EXPECT_TRUE(integer(Combiner::Xor).isZero());
}

} // namespace
} // namespace tenon::compiler::dispatch
