// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/computed_constants.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Matchers.h"

namespace tenon::compiler::dispatch {
namespace {

class ComputedConstants : public KernelTextTest {
protected:
  mlir::Value constant(const std::string &type, const std::string &value) {
    function_ = parseFunction("func.func @f() -> " + type + " {\n%c = arith.constant " + value + " : " + type +
                              "\nreturn %c : " + type + "\n}\n");
    return function_.front().getTerminator()->getOperand(0);
  }
  mlir::OpBuilder builder() { return mlir::OpBuilder(function_.front().getTerminator()); }
  /// Elements of 16 bits; empty: there is no constant.
  static std::vector<int> elementsOf(mlir::Value made) {
    if (!made)
      return {};
    auto value = mlir::cast<mlir::DenseResourceElementsAttr>(made.getDefiningOp<mlir::arith::ConstantOp>().getValue());
    const llvm::ArrayRef<int16_t> elements =
        mlir::cast<mlir::DenseI16ResourceElementsAttr>(mlir::Attribute(value)).tryGetAsArrayRef().value();
    return {elements.begin(), elements.end()};
  }

  mlir::func::FuncOp function_;
};

TEST_F(ComputedConstants, AreTurned) {
  mlir::Value filters = constant("tensor<2x2x3xi16>", "dense<[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]>");
  mlir::OpBuilder b = builder();
  EXPECT_TRUE(isMovableConstant(filters));
  mlir::Value made = turnedConstant(b, filters.getLoc(), filters, {0, 2, 1});
  ASSERT_TRUE(made);
  EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(made.getType()).getShape(), (llvm::ArrayRef<int64_t>{2, 3, 2}));
  EXPECT_EQ(elementsOf(made), (std::vector<int>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  EXPECT_EQ(elementsOf(turnedConstant(b, filters.getLoc(), made, {0, 2, 1})),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(elementsOf(turnedConstant(b, filters.getLoc(), filters, {2, 0, 1})),
            (std::vector<int>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
}

TEST_F(ComputedConstants, AreLengthenedByZeros) {
  mlir::Value matrix = constant("tensor<2x2xi16>", "dense<[[1, 2], [3, 4]]>");
  mlir::OpBuilder b = builder();
  EXPECT_EQ(elementsOf(lengthenedConstant(b, matrix.getLoc(), matrix, {2, 3})), (std::vector<int>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(elementsOf(lengthenedConstant(b, matrix.getLoc(), matrix, {3, 2})), (std::vector<int>{1, 2, 3, 4, 0, 0}));
}

TEST_F(ComputedConstants, OneElementMayStandForAll) {
  mlir::Value matrix = constant("tensor<2x1xi16>", "dense<7>");
  mlir::OpBuilder b = builder();
  mlir::Value turned = turnedConstant(b, matrix.getLoc(), matrix, {1, 0});
  ASSERT_TRUE(turned);
  EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(turned.getType()).getShape(), (llvm::ArrayRef<int64_t>{1, 2}));
  mlir::DenseElementsAttr same; // a program of splats stays small
  EXPECT_TRUE(matchPattern(turned, mlir::m_Constant(&same)) && same.isSplat());
  EXPECT_FALSE(lengthenedConstant(b, matrix.getLoc(), matrix, {2, 2})) << "would be all its elements";
}

TEST_F(ComputedConstants, WhatIsNoConstantOrHasPartsOfBytesIsNoSuch) {
  mlir::Value bits = constant("tensor<2x2xi1>", "dense<[[true, false], [true, true]]>");
  mlir::OpBuilder b = builder();
  EXPECT_FALSE(isMovableConstant(bits));
  EXPECT_FALSE(turnedConstant(b, bits.getLoc(), bits, {1, 0}));
  auto function = parseFunction("func.func @f(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {\nreturn %x : "
                                "tensor<2x2xf16>\n}\n");
  EXPECT_FALSE(isMovableConstant(function.getArgument(0)));
}

} // namespace
} // namespace tenon::compiler::dispatch
