// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every place of a result is asked which elements of its window lie inside of the image.
#include "compiler/dispatch/quantized/inner_places.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

using Iterator = mlir::utils::IteratorType;

class InnerPlacesTest : public KernelTextTest {
protected:
  void SetUp() override {
    function_ = parseFunction("func.func @f(%image: tensor<6xi8>, %other: tensor<64xi8>) -> index {\n"
                              "  %c = arith.constant 0 : index\n  return %c : index\n}");
  }
  /// Of windows of `window` elements, `dilation` apart, in steps of `step`, `padding` before the image.
  InnerPlaces inner(int64_t places, int64_t window, int64_t step, int64_t dilation, int64_t padding,
                    Iterator type = Iterator::parallel) {
    mlir::MLIRContext *context = function_.getContext();
    const mlir::AffineExpr place =
        mlir::getAffineDimExpr(0, context) * step + mlir::getAffineDimExpr(1, context) * dilation - padding;
    Border border{function_.getArgument(0), mlir::AffineMap(), {true}};
    return innerPlacesOf(0, border, mlir::AffineMap::get(2, 0, place), {places, window}, {type, Iterator::reduction});
  }
  mlir::func::FuncOp function_;
};

/// Elements of a window, as bits, that lie inside of an image of 6.
unsigned insideOf(int64_t place, int64_t window, int64_t step, int64_t dilation, int64_t padding) {
  unsigned inside = 0;
  for (int64_t element = 0; element < window; ++element) {
    const int64_t at = place * step + element * dilation - padding;
    inside |= unsigned(at >= 0 && at < 6) << element;
  }
  return inside;
}

TEST_F(InnerPlacesTest, AreThoseWhoseWindowsLieInside) {
  for (int64_t window : {1, 2, 3, 5})
    for (int64_t step : {1, 2, 3})
      for (int64_t dilation : {1, 2})
        for (int64_t padding : {0, 1, 2, 4}) {
          const int64_t places = 7;
          const InnerPlaces found = inner(places, window, step, dilation, padding);
          int64_t whole = 0;
          for (int64_t place = 0; place < places; ++place) {
            const bool isInside = insideOf(place, window, step, dilation, padding) == (1u << window) - 1;
            whole += isInside;
            if (found.alike() > 1)
              EXPECT_EQ(isInside, place >= found.low && place < found.high)
                  << "window " << window << " step " << step << " dilation " << dilation << " padding " << padding;
          }
          EXPECT_EQ(found.alike(), std::max<int64_t>(1, whole));
        }
}

TEST_F(InnerPlacesTest, ALoopThatIsSummedOverHasOnePlace) {
  EXPECT_EQ(inner(6, 3, 1, 1, 1).alike(), 4);
  EXPECT_EQ(inner(6, 3, 1, 1, 1, Iterator::reduction).alike(), 1);
  EXPECT_EQ(inner(mlir::ShapedType::kDynamic, 3, 1, 1, 1).alike(), 1);
}

TEST_F(InnerPlacesTest, PlacesThatAreAlikeHaveOneNumber) {
  const InnerPlaces places{2, 5}; // 0 1 | 2 3 4 | 5 6
  const int64_t numbers[] = {0, 1, 2, 2, 2, 3, 4}, first[] = {0, 1, 2, 5, 6};
  mlir::Operation *end = function_.getBody().front().getTerminator();
  mlir::OpBuilder b(end);
  auto folded = [&](bool isPlace, int64_t value) {
    mlir::Value at = mlir::arith::ConstantIndexOp::create(b, end->getLoc(), value);
    end->setOperand(0, isPlace ? places.numberOf(b, end->getLoc(), at) : places.placeOf(b, end->getLoc(), at));
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function_, mlir::RewritePatternSet(function_.getContext()))));
    return mlir::getConstantIntValue(end->getOperand(0));
  };
  for (int64_t place = 0; place < 7; ++place)
    EXPECT_EQ(folded(true, place), numbers[place]) << place;
  for (int64_t number = 0; number < 5; ++number)
    EXPECT_EQ(folded(false, number), first[number]) << number;
}

} // namespace
} // namespace tenon::compiler::dispatch
