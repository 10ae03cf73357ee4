// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors seen differently. Another shape moves no memory: the host reads the same buffer with other sizes. Another
// element type of the same width keeps the bits, and is arithmetic where a kernel is beside it.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/size_origin.h"
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

/// The number that a size is, whatever types it went through on its way.
OpFoldResult withoutCasts(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  while (value)
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
        cast && (cast.getType().isInteger(64) || cast.getIn().getType().isInteger(64)))
      value = cast.getIn();
    else
      return value;
  return size;
}

/// Those of a tensor: of what is computed, as they were given.
SmallVector<OpFoldResult> givenSizes(OpBuilder &b, Location loc, Value tensor) {
  while (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
    tensor = op.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get();
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  return tensor::getMixedSizes(b, loc, tensor);
}

bool areSame(OpFoldResult a, OpFoldResult b) {
  a = withoutCasts(a);
  b = withoutCasts(b);
  auto x = dyn_cast<Value>(a), y = dyn_cast<Value>(b);
  return isEqualConstantIntOrValue(a, b) ||
         (x && y && x.getType().isIndex() && y.getType().isIndex() && sizeOriginOf(x) == sizeOriginOf(y));
}

/// Which of `longer` each of `shorter` is made of, as far as that is sure: of known sizes some together, an unknown one
/// alone. Nothing where it is not.
std::optional<SmallVector<ReassociationIndices>> groupsOf(ArrayRef<OpFoldResult> longer,
                                                          ArrayRef<OpFoldResult> shorter) {
  SmallVector<ReassociationIndices> groups;
  size_t next = 0;
  for (OpFoldResult size : shorter) {
    ReassociationIndices &group = groups.emplace_back();
    const std::optional<int64_t> known = getConstantIntValue(size);
    if (next == longer.size())
      return std::nullopt;
    if (!known) {
      if (!areSame(longer[next], size))
        return std::nullopt;
      group.push_back(int64_t(next++));
      continue;
    }
    int64_t product = 1;
    do {
      const std::optional<int64_t> part = getConstantIntValue(longer[next]);
      if (!part || *part == 0)
        return std::nullopt;
      product *= *part;
      group.push_back(int64_t(next++));
    } while (product < *known && next < longer.size());
    if (product != *known)
      return std::nullopt;
  }
  // Dimensions of one behind the last.
  for (; next < longer.size() && !groups.empty(); ++next) {
    if (!isConstantIntValue(longer[next], 1))
      return std::nullopt;
    groups.back().push_back(int64_t(next));
  }
  return next == longer.size() ? std::optional(groups) : std::nullopt;
}

/// The new shape is a tensor. Where the host made it of scalars, those are the sizes; where these say which dimensions
/// are taken together or divided, operations on both sides can see it.
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
      if (Value number = dyn_cast<Value>(withoutCasts(size)); number.getType().isIndex())
        size = number;
      else if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), size);
      sizes.push_back(size);
    }
    SmallVector<OpFoldResult> wanted;
    for (unsigned next = 0; int64_t size : type.getShape())
      wanted.push_back(ShapedType::isDynamic(size) ? OpFoldResult(sizes[next++]) : rewriter.getIndexAttr(size));
    const SmallVector<OpFoldResult> given = givenSizes(rewriter, loc, op.getSource());
    const auto from = cast<RankedTensorType>(op.getSource().getType());
    auto isFolded = [](RankedTensorType longer, ArrayRef<ReassociationIndices> groups, Type shorter) {
      return tensor::CollapseShapeOp::inferCollapsedType(longer, groups) == shorter;
    };
    if (given.size() > wanted.size()) {
      if (const auto groups = groupsOf(given, wanted); groups && isFolded(from, *groups, type)) {
        rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, op.getSource(), *groups);
        return success();
      }
    } else if (given.size() < wanted.size()) {
      if (const auto groups = groupsOf(wanted, given); groups && isFolded(type, *groups, from)) {
        rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, op.getSource(), *groups, wanted);
        return success();
      }
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
