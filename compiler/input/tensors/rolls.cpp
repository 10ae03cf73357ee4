// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a tensor with what is ahead of it behind, as a roll puts them together: each element is read once, at a
// place that goes round. So a roll of a roll, the shifted windows of an image, is one kernel.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// Whether a slice is all of its source but along one dimension, and begins there at `first`.
bool isPartAlong(tensor::ExtractSliceOp slice, unsigned along, int64_t first) {
  const RankedTensorType type = slice.getType(), source = slice.getSourceType();
  if (type.getRank() != source.getRank() || !type.hasStaticShape())
    return false;
  for (auto [dimension, offset, stride] : llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
    const bool isAlong = dimension == along;
    if (!isConstantIntValue(stride, 1) || !isConstantIntValue(offset, isAlong ? first : 0) ||
        (!isAlong && type.getDimSize(dimension) != source.getDimSize(dimension)))
      return false;
  }
  return true;
}

struct LowerRoll : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    const RankedTensorType type = op.getResultType();
    const auto along = unsigned(op.getDim());
    // Along the last dimension parts are read in vectors, each for itself.
    if (op.getInputs().size() != 2 || !type.hasStaticShape() || type.getNumElements() == 0 ||
        int64_t(along) + 1 == type.getRank())
      return failure();
    auto end = op.getInputs()[0].getDefiningOp<tensor::ExtractSliceOp>(),
         begin = op.getInputs()[1].getDefiningOp<tensor::ExtractSliceOp>();
    if (!end || !begin || end.getSource() != begin.getSource() || end.getSourceType() != type)
      return failure();
    const int64_t first = begin.getType().getDimSize(along);
    if (!isPartAlong(end, along, first) || !isPartAlong(begin, along, 0))
      return failure();
    Value source = end.getSource();
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), source);
    rewriter.replaceOp(
        op, buildElements(rewriter, op.getLoc(), type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> places = llvm::to_vector(indices);
          Value ahead = arith::ConstantIndexOp::create(b, loc, first),
                size = arith::ConstantIndexOp::create(b, loc, type.getDimSize(along));
          places[along] = arith::RemUIOp::create(b, loc, arith::AddIOp::create(b, loc, places[along], ahead), size);
          return Value(tensor::ExtractOp::create(b, loc, source, places));
        }));
    return success();
  }
};

} // namespace

void addRollPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRoll>(patterns.getContext());
}

} // namespace tenon::compiler::input
