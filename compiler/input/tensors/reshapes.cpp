// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors seen differently. Another shape moves no memory: the host reads the same buffer with other sizes. Another
// element type of the same width keeps the bits, and is arithmetic where a kernel is beside it.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

SmallVector<Value> dynamicSizesOf(OpBuilder &b, Location loc, Value tensor) {
  SmallVector<Value> result;
  for (OpFoldResult size : tensor::getMixedSizes(b, loc, tensor))
    if (auto value = dyn_cast<Value>(size))
      result.push_back(value);
  return result;
}

/// The new shape is a tensor. Where the host made it of scalars, those are the sizes.
struct LowerReshape : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !isa<RankedTensorType>(op.getSource().getType()))
      return failure();
    auto shape = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    if (!type.hasStaticShape() && !shape)
      return failure();
    const Location loc = op.getLoc();
    SmallVector<Value> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      if (!type.isDynamicDim(dimension))
        continue;
      Value size = shape.getElements()[dimension];
      if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), size);
      sizes.push_back(size);
    }
    rewriter.replaceOpWithNewOp<flow::TensorReshapeOp>(op, type, op.getSource(),
                                                       dynamicSizesOf(rewriter, loc, op.getSource()), sizes);
    return success();
  }
};

struct LowerBitcast : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::BitcastOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!type || !from || !arith::BitcastOp::areCastCompatible(from.getElementType(), type.getElementType()))
      return failure();
    auto isArithmetic = [](Operation *user) {
      return user && isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect>(user->getDialect());
    };
    if (isArithmetic(op.getSource().getDefiningOp()) || llvm::any_of(op->getUsers(), isArithmetic)) {
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, op.getSource());
      return success();
    }
    const SmallVector<Value> sizes = dynamicSizesOf(rewriter, op.getLoc(), op.getSource());
    rewriter.replaceOpWithNewOp<flow::TensorBitCastOp>(op, type, op.getSource(), sizes, sizes);
    return success();
  }
};

} // namespace

void addReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBitcast, LowerReshape>(patterns.getContext());
  // A dimension of one that a slice leaves and a reshape takes away is dropped by the slice: queries of [b, n, 3, h,
  // d].
  tensor::populateReassociativeReshapeFoldingPatterns(patterns);
}

} // namespace tenon::compiler::input
