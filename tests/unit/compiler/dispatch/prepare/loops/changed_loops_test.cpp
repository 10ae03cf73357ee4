// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/changed_loops.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class ChangedLoopsTest : public KernelTextTest {
protected:
  /// Sums of rows that keep the dimension they are taken over, by a loop of one.
  mlir::linalg::GenericOp sums() {
    function_ = parseFunction(R"mlir(
    func.func @f(%x: tensor<4x6xf32>, %s: tensor<4x1xf32>) -> tensor<4x1xf32> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i, one, k) -> (i, k)>, affine_map<(i, one, k) -> (i, one)>],
          iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x6xf32>) outs(%s : tensor<4x1xf32>) {
        ^bb0(%a: f32, %o: f32):
          %one = linalg.index 1 : index
          %k = linalg.index 2 : index
          %t = arith.addf %a, %o : f32
          linalg.yield %t : f32
      } -> tensor<4x1xf32>
      return %0 : tensor<4x1xf32>
    })mlir");
    return *function_.getOps<mlir::linalg::GenericOp>().begin();
  }
  mlir::func::FuncOp function_;
};

TEST_F(ChangedLoopsTest, WhatIsReadAtZeroIsNoDimensionOfTheTensor) {
  mlir::linalg::GenericOp op = sums();
  const auto map = mlir::AffineMap::get(
      1, 0, {mlir::getAffineDimExpr(0, &context_), mlir::getAffineConstantExpr(0, &context_)}, &context_);
  const auto dropped = withoutUnits(op.getDpsInits()[0], map);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->map.getNumResults(), 1u);
  EXPECT_EQ(dropped->groups.size(), 1u);
  EXPECT_FALSE(withoutUnits(op.getDpsInputs()[0], map)) << "a dimension of six";
}

TEST_F(ChangedLoopsTest, AnOperationWithoutALoopHasItsResultsReshaped) {
  mlir::linalg::GenericOp op = sums();
  ChangedLoops loops(op);
  llvm::SmallBitVector dropped(3);
  dropped.set(1);
  dropLoops(op, loops, dropped);
  EXPECT_EQ(loops.types.size(), 2u);
  mlir::linalg::GenericOp made = rebuild(op, loops);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  EXPECT_EQ(made.getNumLoops(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(made.getResult(0).getType()).getRank(), 1);
  auto indices = made.getBody()->getOps<mlir::linalg::IndexOp>();
  ASSERT_EQ(llvm::range_size(indices), 1u);
  EXPECT_EQ((*indices.begin()).getDim(), 1u) << "the loop behind the one that went";
  EXPECT_TRUE(function_.getBody().front().getTerminator()->getOperand(0).getDefiningOp<mlir::tensor::ExpandShapeOp>());
}

} // namespace
} // namespace tenon::compiler::dispatch
