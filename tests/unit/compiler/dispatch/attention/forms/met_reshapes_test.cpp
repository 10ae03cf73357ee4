// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/met_reshapes.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

class MetReshapesTest : public KernelTextTest {
protected:
  using Shape = std::vector<int64_t>;
  /// The shapes that a tensor has on its way from one shape to another.
  std::vector<Shape> between(const std::string &from, const std::string &middle, const std::string &to,
                             const std::string &taken, const std::string &divided, const std::string &sizes) {
    auto function = parseFunction("func.func @f(%a: tensor<" + from + "xf32>) -> tensor<" + to +
                                  "xf32> {\n%c = tensor.collapse_shape %a " + taken + " : tensor<" + from +
                                  "xf32> into tensor<" + middle + "xf32>\n%e = tensor.expand_shape %c " + divided +
                                  " output_shape " + sizes + " : tensor<" + middle + "xf32> into tensor<" + to +
                                  "xf32>\nreturn %e : tensor<" + to + "xf32>\n}");
    mlir::RewritePatternSet patterns(&context_);
    addMetReshapes(patterns);
    EXPECT_TRUE(mlir::succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    std::vector<Shape> shapes;
    for (mlir::Value value = function.front().getTerminator()->getOperand(0);;
         value = value.getDefiningOp()->getOperand(0)) {
      const auto shape = mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
      shapes.insert(shapes.begin(), Shape(shape.begin(), shape.end()));
      if (!value.getDefiningOp())
        return shapes;
    }
  }
};

TEST_F(MetReshapesTest, DimensionsThatBothEndsHaveStay) {
  EXPECT_EQ(between("4x1x32x8", "1024", "4x4x8x8", "[[0, 1, 2, 3]]", "[[0, 1, 2, 3]]", "[4, 4, 8, 8]"),
            (std::vector<Shape>{{4, 1, 32, 8}, {4, 32, 8}, {4, 4, 8, 8}}));
  EXPECT_EQ(between("6x4x5", "120", "3x2x4x1x5", "[[0, 1, 2]]", "[[0, 1, 2, 3, 4]]", "[3, 2, 4, 1, 5]"),
            (std::vector<Shape>{{6, 4, 5}, {3, 2, 4, 1, 5}}));
}

TEST_F(MetReshapesTest, DimensionsOfOneMayStandElsewhere) {
  EXPECT_EQ(between("2x3x1x7", "42", "2x3x7x1", "[[0, 1, 2, 3]]", "[[0, 1, 2, 3]]", "[2, 3, 7, 1]"),
            (std::vector<Shape>{{2, 3, 1, 7}, {2, 3, 7}, {2, 3, 7, 1}}));
}

TEST_F(MetReshapesTest, WhatHasNothingInCommonStaysAsItIs) {
  EXPECT_EQ(between("4x9", "36", "6x6", "[[0, 1]]", "[[0, 1]]", "[6, 6]"), (std::vector<Shape>{{4, 9}, {36}, {6, 6}}));
  EXPECT_EQ(between("4x0", "0", "0x4", "[[0, 1]]", "[[0, 1]]", "[0, 4]"), (std::vector<Shape>{{4, 0}, {0}, {0, 4}}));
}

} // namespace
} // namespace tenon::compiler::dispatch
