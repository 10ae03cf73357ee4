// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/turned_tensor.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class TurnedTensor : public KernelTextTest {
protected:
  /// What makes the argument of that shape in that order.
  mlir::Operation *turned(const std::string &shape, llvm::ArrayRef<int64_t> order) {
    function_ = parseFunction("func.func @f(%a: tensor<" + shape + "xf32>) {\n  return\n}");
    mlir::OpBuilder b(function_.front().getTerminator());
    mlir::Value made = turnedTo(b, function_.getLoc(), function_.getArgument(0), order);
    EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
    return made.getDefiningOp();
  }
  mlir::func::FuncOp function_;
};

TEST_F(TurnedTensor, IsACopy) {
  for (const std::string shape : {"2x3x4", "?x3x4"}) {
    auto copy = llvm::dyn_cast<mlir::linalg::TransposeOp>(turned(shape, {0, 2, 1}));
    ASSERT_TRUE(copy) << shape;
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(copy->getResult(0).getType()).getShape().drop_front(),
              (llvm::ArrayRef<int64_t>{4, 3}));
  }
}

TEST_F(TurnedTensor, IsNoneWhereNoElementMoves) {
  mlir::Operation *view = turned("8x16x1x1", {0, 2, 3, 1});
  ASSERT_TRUE(llvm::isa<mlir::tensor::ExpandShapeOp>(view));
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(view->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{8, 1, 1, 16}));
}

} // namespace
} // namespace tenon::compiler::dispatch
