// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/lines/lines.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class LinesTest : public AlongTest {
protected:
  LineShape shapeOf(const std::string &tensor, int64_t dimension) {
    kernel_ =
        read({tensor},
             "sort dimension(" + std::to_string(dimension) + ") outs(%x : " + tensor +
                 ") {\n^bb0(%a: f32, %b: f32):\n%s = arith.cmpf olt, %a, %b : f32\niree_linalg_ext.yield %s : i1\n}",
             {tensor});
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    return {kernel_->along.outputs[0].tensor, dimension};
  }
};

TEST_F(LinesTest, ATensorIsOuterLengthInner) {
  const LineShape middle = shapeOf("tensor<3x5x7xf32>", 1);
  EXPECT_EQ(middle.knownLines(), 21);
  EXPECT_EQ(middle.knownLength(), 5);
  EXPECT_FALSE(middle.isAdjacent());
  EXPECT_EQ(knownProduct(middle.outer), 3);
  EXPECT_EQ(knownProduct(middle.inner), 7);
}

TEST_F(LinesTest, ElementsOfALineLieSideBySideWhereNothingIsInside) {
  EXPECT_TRUE(shapeOf("tensor<3x5xf32>", 1).isAdjacent());
  EXPECT_TRUE(shapeOf("tensor<3x5x1xf32>", 1).isAdjacent());
  EXPECT_FALSE(shapeOf("tensor<3x5xf32>", 0).isAdjacent());
}

TEST_F(LinesTest, WhatIsUnknownIsNotKnown) {
  const LineShape lines = shapeOf("tensor<?x5xf32>", 1);
  EXPECT_FALSE(lines.knownLines());
  EXPECT_EQ(lines.knownLength(), 5);
}

} // namespace
} // namespace tenon::compiler::codegen
