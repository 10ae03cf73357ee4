// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/reorder.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ReorderTest : public KernelTextTest {
protected:
  mlir::func::FuncOp negated() {
    return parseFunction(R"(
func.func @f(%a: tensor<4x?x6xf32>, %n: index) -> tensor<?x4x6xf32> {
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %s = tensor.expand_shape %e [[0, 1], [2]] output_shape [4, %n, 6] : tensor<?x6xf32> into tensor<4x?x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(x, y, z) -> (x, y, z)>, affine_map<(x, y, z) -> (x, y, z)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<4x?x6xf32>) outs(%s : tensor<4x?x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.negf %x : f32
    linalg.yield %m : f32
  } -> tensor<4x?x6xf32>
  %t = tensor.empty(%n) : tensor<?x4x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(x, y, z) -> (y, x, z)>, affine_map<(x, y, z) -> (x, y, z)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<4x?x6xf32>) outs(%t : tensor<?x4x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<?x4x6xf32>
  return %r : tensor<?x4x6xf32>
})");
  }
};

// What it is written to is a reshape of nothing, of which one of the sizes is unknown.
TEST_F(ReorderTest, AResultIsReadAsItLies) {
  mlir::func::FuncOp function = negated();
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  turnResultOf(mlir::cast<mlir::OpResult>(ops[0]->getResult(0)), {1, 0, 2});
  turnRead(*ops[1].getDpsInputOperand(0), {1, 0, 2});
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ops[0]->getResult(0).getType(), ops[1]->getResult(0).getType());
  EXPECT_TRUE(ops[1].getIndexingMapsArray()[0].isIdentity());
  EXPECT_FALSE(ops[0].getIndexingMapsArray()[0] == ops[0].getIndexingMapsArray()[1]);
  orderLoops(ops[0]);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_TRUE(ops[0].getIndexingMapsArray()[1].isIdentity());
  EXPECT_FALSE(ops[0].getIndexingMapsArray()[0].isIdentity());
}

TEST_F(ReorderTest, AReshapeKeepsItsGroupsTogether) {
  mlir::func::FuncOp function = parseFunction(R"(
func.func @f(%a: tensor<4x?x6xf32>, %n: index) -> tensor<4x?x2x3xf32> {
  %r = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [4, %n, 2, 3] : tensor<4x?x6xf32> into tensor<4x?x2x3xf32>
  return %r : tensor<4x?x2x3xf32>
})");
  auto reshape = *function.getOps<mlir::tensor::ExpandShapeOp>().begin();
  const mlir::Type turned =
      mlir::RankedTensorType::get({6, mlir::ShapedType::kDynamic, 4}, mlir::Float32Type::get(&context_));
  function.getArgument(0).setType(mlir::cast<mlir::RankedTensorType>(turned));
  turnReshape(reshape, {2, 3, 1, 0}, {2, 1, 0});
  EXPECT_EQ(reshape.getReassociationIndices(), (llvm::SmallVector<mlir::ReassociationIndices, 4>{{0, 1}, {2}, {3}}));
  EXPECT_EQ(reshape.getResultType().getShape(), (llvm::ArrayRef<int64_t>{2, 3, mlir::ShapedType::kDynamic, 4}));
}

} // namespace
} // namespace tenon::compiler::dispatch
