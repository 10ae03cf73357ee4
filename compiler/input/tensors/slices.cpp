// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rectangles of tensors. Reading one is arithmetic on indices, result[i] = source[offset + i * stride]; writing one
// makes a tensor that has the elements of one or of the other, by where they stand.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct LowerExtractSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes;
    for (auto [dimension, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped.test(dimension))
        sizes.push_back(size);
    Value result =
        buildElements(rewriter, op.getLoc(), op.getType(), sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> places;
          unsigned next = 0;
          for (auto [dimension, offset, stride] : llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
            Value place = dropped.test(dimension) ? arith::ConstantIndexOp::create(b, loc, 0).getResult()
                                                  : multiplyIndex(b, loc, indices[next++], stride);
            places.push_back(addIndex(b, loc, place, offset));
          }
          return readElement(b, loc, op.getSource(), places);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Equal for certain: the same constant or the same value.
bool isWhole(OpFoldResult offset, OpFoldResult size, OpFoldResult stride, OpFoldResult whole) {
  return isZeroInteger(offset) && isOneInteger(stride) && isEqualConstantIntOrValue(size, whole);
}

struct LowerInsertSlice : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op, PatternRewriter &rewriter) const override {
    const Location where = op.getLoc();
    if (op.getSourceType().hasStaticShape() && op.getSourceType().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getDest());
      return success();
    }
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    const SmallVector<OpFoldResult> whole = tensor::getMixedSizes(rewriter, where, op.getDest());
    const Window source(rewriter, where, op.getSource());
    Value result =
        buildElements(rewriter, where, op.getType(), whole, [&](OpBuilder &b, Location loc, ValueRange indices) {
          Window window = source;
          for (unsigned dimension = 0; dimension < indices.size(); ++dimension) {
            const OpFoldResult offset = op.getMixedOffsets()[dimension], size = op.getMixedSizes()[dimension],
                               stride = op.getMixedStrides()[dimension];
            Value place = indices[dimension], condition;
            if (!isWhole(offset, size, stride, whole[dimension])) {
              // Below the offset a place is a huge number without a sign, and is divided as such.
              Value distance = subtractIndex(b, loc, place, offset);
              place = divideIndex(b, loc, distance, stride);
              condition = isBelow(b, loc, place, size);
              if (!isOneInteger(stride))
                condition = both(b, loc, condition,
                                 arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                       remainderIndex(b, loc, distance, stride),
                                                       arith::ConstantIndexOp::create(b, loc, 0)));
            }
            if (!dropped.test(dimension))
              window.add(b, loc, place, condition);
            else
              window.inside = both(b, loc, window.inside, condition);
          }
          Value outside = window.inside ? readElement(b, loc, op.getDest(), indices) : Value();
          return window.read(b, loc, outside);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void addSlicePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerExtractSlice, LowerInsertSlice>(patterns.getContext());
}

} // namespace tenon::compiler::input
