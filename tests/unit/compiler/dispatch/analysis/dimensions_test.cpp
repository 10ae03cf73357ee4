// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/dimensions.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

using Dimensions = KernelTextTest;

TEST_F(Dimensions, AKnownSizeIsAConstant) {
  auto function = parseFunction("func.func @f(%a: tensor<?x7xf32>) { return }");
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&function.front());
  mlir::Value size = dimensionOf(b, function.getLoc(), function.getArgument(0), 1);
  auto constant = size.getDefiningOp<mlir::arith::ConstantIndexOp>();
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant.value(), 7);
}

TEST_F(Dimensions, AnExistingSizeIsUsedAgain) {
  auto function = parseFunction("func.func @f(%a: tensor<?xf32>) -> index {\n%c0 = arith.constant 0 : index\n"
                                "%d = tensor.dim %a, %c0 : tensor<?xf32>\nreturn %d : index\n}");
  mlir::Operation *end = function.front().getTerminator();
  mlir::OpBuilder b(end);
  EXPECT_EQ(dimensionOf(b, function.getLoc(), function.getArgument(0), 0), end->getOperand(0));
}

TEST_F(Dimensions, TheSizeOfAResultIsThatOfItsStart) {
  auto function = parseFunction(kRowSum);
  mlir::linalg::GenericOp op = *function.getOps<mlir::linalg::GenericOp>().begin();
  mlir::OpBuilder b(function.front().getTerminator());
  mlir::Value size = dimensionOf(b, function.getLoc(), op.getResult(0), 0);
  EXPECT_EQ(size, (*function.getOps<mlir::tensor::EmptyOp>().begin()).getDynamicSizes()[0]);
}

TEST_F(Dimensions, TheSizeOfAReshapeIsThatOfWhatItReshapes) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?x4x?xf32>, %n: index) -> (index, index, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
      %e = tensor.expand_shape %c [[0], [1, 2]] output_shape [%n, %n, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
      %rows = tensor.dim %c, %c0 : tensor<?x?xf32>
      %columns = tensor.dim %c, %c1 : tensor<?x?xf32>
      %given = tensor.dim %e, %c1 : tensor<?x?x1xf32>
      return %rows, %columns, %given : index, index, index
    })mlir");
  resolveDimensions(function);
  mlir::Operation *end = function.front().getTerminator();
  auto rows = end->getOperand(0).getDefiningOp<mlir::arith::MulIOp>();
  ASSERT_TRUE(rows);
  for (auto dim : function.getOps<mlir::tensor::DimOp>())
    EXPECT_EQ(dim.getSource(), function.getArgument(0));
  EXPECT_TRUE(end->getOperand(1).getDefiningOp<mlir::tensor::DimOp>());
  EXPECT_EQ(end->getOperand(2), function.getArgument(1));
}

TEST_F(Dimensions, TheSizeOfADispatchResultIsItsOwnOperand) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?xf32>, %n: index, %m: index) -> index {
      %0 = flow.dispatch @e::@k(%a) : (tensor<?xf32>{%n}) -> tensor<4x?xf32>{%m}
      %c1 = arith.constant 1 : index
      %d = tensor.dim %0, %c1 : tensor<4x?xf32>
      return %d : index
    }
    hal.executable.source private @e {
      hal.executable.export public @k ordinal(0) layout(#hal.pipeline.layout<bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
          count(%device: !hal.device) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %c1, %c1, %c1 : index, index, index
      } attributes {workgroup_size = [1 : index, 1 : index, 1 : index]}
      builtin.module {
      }
    })mlir");
  resolveDimensions(function);
  EXPECT_TRUE(function.getOps<mlir::tensor::DimOp>().empty());
  EXPECT_EQ(function.front().getTerminator()->getOperand(0), function.getArgument(2));
}

} // namespace
} // namespace tenon::compiler::dispatch
