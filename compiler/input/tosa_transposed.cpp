// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.transpose_conv2d as a convolution of the image with its pixels pulled apart: (i - 1) elements between two rows
// that a stride of i makes neighbours of, and a border as wide as the filter, but for `out_pad`. What lies between is
// the image's zero point, which counts as nothing. The filter is read backwards.
//
// MLIR's conversion multiplies nothing of what lies between: it cuts the filter into one for each remainder of the
// stride. But it wants sizes that it knows, and pads the filter as if its elements had the image's type, which those of
// an image of i16 have not.
#include "compiler/input/tosa_transposed.h"
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// One axis of the image that is pulled apart.
struct Axis {
  int64_t stride, front, behind; // elements of the border
  OpFoldResult size;             // of the image

  /// (size - 1) * stride + 1 and the border.
  OpFoldResult pulledSize(OpBuilder &b, Location loc) const {
    AffineExpr pixels = getAffineSymbolExpr(0, b.getContext());
    return affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(0, 1, (pixels - 1) * stride + (1 + front + behind)), {size});
  }

  /// Adds to `window` the pixel that stands at `index`, where one does.
  void find(OpBuilder &b, Location loc, Value index, Window &window) const {
    const OpFoldResult step = b.getIndexAttr(stride);
    const int64_t moved = int64_t(llvm::divideCeil(uint64_t(front), uint64_t(stride))); // so that nothing is negative
    Value at = addIndex(b, loc, index, b.getIndexAttr(moved * stride - front));
    Value place = subtractIndex(b, loc, divideIndex(b, loc, at, step), b.getIndexAttr(moved));
    Value condition = isBelow(b, loc, place, size);
    if (stride > 1)
      condition = both(b, loc, condition,
                       arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, remainderIndex(b, loc, at, step),
                                             arith::ConstantIndexOp::create(b, loc, 0)));
    window.add(b, loc, place, condition);
  }
};

struct ReadTransposed : OpRewritePattern<tosa::TransposeConv2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::TransposeConv2DOp op, PatternRewriter &rewriter) const override {
    auto image = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto filter = dyn_cast<RankedTensorType>(op.getWeight().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!image || !filter || !type || filter.isDynamicDim(1) || filter.isDynamicDim(2))
      return failure();
    const bool isKnown = image.hasStaticShape() && filter.hasStaticShape() && type.hasStaticShape();
    if (isKnown && image.getElementType() == filter.getElementType())
      return failure();
    const Location loc = op.getLoc();
    const ArrayRef<int64_t> pad = op.getOutPad(), stride = op.getStride();
    const int64_t height = filter.getDimSize(1), width = filter.getDimSize(2);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    const Axis rows = {stride[0], height - 1 + pad[0], height - 1 + pad[1], sizes[1]};
    const Axis columns = {stride[1], width - 1 + pad[2], width - 1 + pad[3], sizes[2]};
    if (rows.front < 0 || rows.behind < 0 || columns.front < 0 || columns.behind < 0)
      return failure();
    sizes[1] = rows.pulledSize(rewriter, loc);
    sizes[2] = columns.pulledSize(rewriter, loc);
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto pulledType = RankedTensorType::get(shape, image.getElementType());
    Value pulled = buildElements(rewriter, loc, pulledType, sizes, [&](OpBuilder &b, Location at, ValueRange indices) {
      Value zero = arith::ConstantIndexOp::create(b, at, 0);
      Value nothing = readElement(b, at, op.getInputZp(), zero);
      Window pixel(b, at, op.getInput());
      pixel.add(b, at, indices[0], {});
      rows.find(b, at, indices[1], pixel);
      columns.find(b, at, indices[2], pixel);
      pixel.add(b, at, indices[3], {});
      return pixel.read(b, at, nothing);
    });
    Value backwards = tosa::ReverseOp::create(rewriter, loc, filter, op.getWeight(), 1);
    backwards = tosa::ReverseOp::create(rewriter, loc, filter, backwards, 2);
    rewriter.replaceOpWithNewOp<tosa::Conv2DOp>(
        op, type, pulled, backwards, op.getBias(), op.getInputZp(), op.getWeightZp(), ArrayRef<int64_t>{0, 0, 0, 0},
        ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{1, 1}, op.getAccType(), op.getLocalBound());
    return success();
  }
};

} // namespace

void addTransposedPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadTransposed>(patterns.getContext());
}

} // namespace tenon::compiler::input
