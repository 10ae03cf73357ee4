// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of linalg that are several loops: softmax is a maximum, exponentials, their sum and a quotient.
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

Value emptyLike(OpBuilder &b, Location loc, Value tensor, Type element) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
}

/// Every element converted.
template <typename Op> Value convert(OpBuilder &b, Location loc, Value tensor, Type element) {
  const int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  Value start = emptyLike(b, loc, tensor, element);
  auto generic = linalg::GenericOp::create(b, loc, TypeRange(start), tensor, start,
                                           SmallVector<AffineMap>(2, b.getMultiDimIdentityMap(rank)),
                                           SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                                           [&](OpBuilder &inside, Location where, ValueRange elements) {
                                             Value converted = Op::create(inside, where, element, elements[0]);
                                             linalg::YieldOp::create(inside, where, converted);
                                           });
  return generic.getResult(0);
}

struct LowerSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    // Of integers there is no softmax; MLIR's decomposition takes floats for granted.
    if (!op.hasPureTensorSemantics() || !isa<FloatType>(getElementTypeOrSelf(op.getInput().getType())))
      return failure();
    auto type = cast<RankedTensorType>(op.getResult()[0].getType());
    if (type.getElementTypeBitWidth() < 32) { // rounded once, at its end
      Value wide = convert<arith::ExtFOp>(rewriter, op.getLoc(), op.getInput(), rewriter.getF32Type());
      Value start = emptyLike(rewriter, op.getLoc(), op.getOutput(), rewriter.getF32Type());
      auto softmax = linalg::SoftmaxOp::create(rewriter, op.getLoc(), TypeRange(start), wide, start, op.getDimension());
      rewriter.replaceOp(
          op, convert<arith::TruncFOp>(rewriter, op.getLoc(), softmax.getResult()[0], type.getElementType()));
      return success();
    }
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void addAggregatePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerSoftmax>(patterns.getContext());
}

} // namespace tenon::compiler::input
