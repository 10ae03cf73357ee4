// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.resize by its specification: a pixel of the result lies at (i * scale_d + offset) / scale_n of the image,
// between two rows and two columns, and is the mean of four pixels, weighted by what the division leaves over. Where
// the offset is negative, so is the dividend of the first rows and columns. MLIR's conversion rounds such quotients and
// what is left over towards zero: integers get another pixel's weights, and floats weights of 1.25 and -0.25, which
// make NaN of an infinite pixel. Of floats of 16 bits it also weighs and adds in 16 bits, wherever the offset lies.
// Nearest neighbours are not concerned: both divisions end at the first pixel.
#include "compiler/input/tosa_resize.h"
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// How far a pixel of the result moves along one axis of the image, and where the first one lies.
struct Axis {
  int64_t denominator, step, offset; // scale_n, scale_d
  OpFoldResult size;                 // of the image
};

/// The two pixels that one of the result lies between, and the weight of each, in parts of `denominator`.
struct Neighbours {
  Value places[2], weights[2];
};

Neighbours findNeighbours(OpBuilder &b, Location loc, Value index, const Axis &axis) {
  // Moved by whole pixels, so that nothing is negative where it is divided.
  const int64_t moved = axis.offset < 0 ? llvm::divideCeil(-axis.offset, axis.denominator) : 0;
  Value scaled = multiplyIndex(b, loc, index, b.getIndexAttr(axis.step));
  Value at = addIndex(b, loc, scaled, b.getIndexAttr(axis.offset + moved * axis.denominator));
  const OpFoldResult denominator = b.getIndexAttr(axis.denominator);
  Value first = subtractIndex(b, loc, divideIndex(b, loc, at, denominator), b.getIndexAttr(moved));
  Value second = addIndex(b, loc, first, b.getIndexAttr(1));
  Value rest = remainderIndex(b, loc, at, denominator);
  Value unit = arith::ConstantIndexOp::create(b, loc, axis.denominator);
  return {{clampIndex(b, loc, first, axis.size), clampIndex(b, loc, second, axis.size)},
          {arith::SubIOp::create(b, loc, unit, rest), rest}};
}

/// The weight as a number of `type`: an integer's is not divided, so that its results are products of both
/// denominators.
Value weightOf(OpBuilder &b, Location loc, Value weight, int64_t denominator, Type type) {
  if (type.isInteger())
    return arith::IndexCastOp::create(b, loc, type, weight);
  Value number = arith::SIToFPOp::create(b, loc, type, arith::IndexCastOp::create(b, loc, b.getI32Type(), weight));
  return arith::DivFOp::create(b, loc, number,
                               arith::ConstantOp::create(b, loc, b.getFloatAttr(type, double(denominator))));
}

/// a * b, a + b: in integers or floats.
Value multiply(OpBuilder &b, Location loc, Value x, Value y) {
  return x.getType().isInteger() ? Value(arith::MulIOp::create(b, loc, x, y))
                                 : Value(arith::MulFOp::create(b, loc, x, y));
}

Value add(OpBuilder &b, Location loc, Value x, Value y) {
  return x.getType().isInteger() ? Value(arith::AddIOp::create(b, loc, x, y))
                                 : Value(arith::AddFOp::create(b, loc, x, y));
}

struct ReadResize : OpRewritePattern<tosa::ResizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::ResizeOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto image = dyn_cast<RankedTensorType>(op.getInput().getType());
    SmallVector<int64_t> scale, offset;
    if (op.getMode() != tosa::ResizeMode::BILINEAR || !type || !image || type.isDynamicDim(1) || type.isDynamicDim(2) ||
        !tosa::getConstShapeValues(op.getScale().getDefiningOp(), scale) ||
        !tosa::getConstShapeValues(op.getOffset().getDefiningOp(), offset) || scale.size() != 4 || offset.size() != 2 ||
        llvm::any_of(scale, [](int64_t value) { return value <= 0; }))
      return failure();
    const Type element = type.getElementType();
    const bool isShort = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    if (!isShort && offset[0] >= 0 && offset[1] >= 0)
      return failure(); // MLIR's is right
    const Location loc = op.getLoc();
    const Axis rows = {scale[0], scale[1], offset[0], tensor::getMixedSize(rewriter, loc, op.getInput(), 1)};
    const Axis columns = {scale[2], scale[3], offset[1], tensor::getMixedSize(rewriter, loc, op.getInput(), 2)};
    SmallVector<OpFoldResult> sizes;
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      sizes.push_back(ShapedType::isDynamic(size)
                          ? tensor::getMixedSize(rewriter, loc, op.getInput(), int64_t(dimension))
                          : OpFoldResult(rewriter.getIndexAttr(size)));
    // Positions and sums of short floats would lose what their pixels hold.
    const Type wide = isShort ? Type(rewriter.getF32Type()) : element;
    Value result = buildElements(rewriter, loc, type, sizes, [&](OpBuilder &b, Location at, ValueRange indices) {
      const Neighbours row = findNeighbours(b, at, indices[1], rows);
      const Neighbours column = findNeighbours(b, at, indices[2], columns);
      Value sum;
      for (unsigned i = 0; i < 2; ++i)
        for (unsigned j = 0; j < 2; ++j) {
          Value pixel = readElement(b, at, op.getInput(), {indices[0], row.places[i], column.places[j], indices[3]});
          if (pixel.getType() != wide)
            pixel = wide.isInteger() ? Value(arith::ExtSIOp::create(b, at, wide, pixel))
                                     : Value(arith::ExtFOp::create(b, at, wide, pixel));
          pixel = multiply(b, at, pixel, weightOf(b, at, row.weights[i], rows.denominator, wide));
          pixel = multiply(b, at, pixel, weightOf(b, at, column.weights[j], columns.denominator, wide));
          sum = sum ? add(b, at, sum, pixel) : pixel;
        }
      return wide == element ? sum : Value(arith::TruncFOp::create(b, at, element, sum));
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void addResizePatterns(RewritePatternSet &patterns) {
  patterns.add<ReadResize>(patterns.getContext());
}

} // namespace tenon::compiler::input
