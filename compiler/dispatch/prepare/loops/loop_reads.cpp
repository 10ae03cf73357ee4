// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/loop_reads.h"

#include "compiler/dialect/size_origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The loop whose index the value is, in a type that holds every index; null where it is anything else.
linalg::IndexOp loopBehind(Value index) {
  while (auto cast = index.getDefiningOp<arith::IndexCastOp>()) {
    if (!cast.getType().isIndex() && !cast.getType().isInteger(64))
      return {};
    index = cast.getIn();
  }
  return index.getDefiningOp<linalg::IndexOp>();
}

/// How many numbers a loop has; nothing where nobody says.
SizeOrigin sizeOfLoop(linalg::GenericOp op, unsigned loop) {
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) // results first
    if (isa<RankedTensorType>(operand.get().getType()))
      if (std::optional<unsigned> dimension =
              op.getMatchingIndexingMap(&operand).getResultPosition(getAffineDimExpr(loop, op.getContext())))
        return sizeOriginOf(operand.get(), *dimension);
  return {};
}

/// Elements read where the loops are, of a tensor that is as long as these.
struct ReadAtLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    for (auto read : op.getBody()->getOps<tensor::ExtractOp>()) {
      std::optional<AffineMap> map = placeOf(read, op);
      if (!map)
        continue;
      const unsigned inputs = op.getNumDpsInputs();
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps.insert(maps.begin() + inputs, *map);
      rewriter.modifyOpInPlace(op, [&] {
        BlockArgument element = op.getBody()->insertArgument(inputs, read.getType(), read.getLoc());
        rewriter.replaceAllUsesWith(read.getResult(), element);
        op.getInputsMutable().append(read.getTensor());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      rewriter.eraseOp(read);
      return success();
    }
    return failure();
  }

private:
  static std::optional<AffineMap> placeOf(tensor::ExtractOp read, linalg::GenericOp op) {
    auto type = cast<RankedTensorType>(read.getTensor().getType());
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (op->isAncestor(read.getTensor().getParentRegion()->getParentOp()) || type.getRank() == 0)
      return std::nullopt;
    SmallVector<AffineExpr> indices;
    for (auto [dimension, index, size] : llvm::enumerate(read.getIndices(), type.getShape())) {
      if (size == 1 && matchPattern(index, m_Zero())) {
        indices.push_back(getAffineConstantExpr(0, op.getContext()));
        continue;
      }
      linalg::IndexOp loop = loopBehind(index);
      if (!loop || sizes[loop.getDim()] != size)
        return std::nullopt;
      if (ShapedType::isDynamic(size) &&
          !(sizeOfLoop(op, loop.getDim()) == sizeOriginOf(read.getTensor(), int64_t(dimension))))
        return std::nullopt;
      indices.push_back(getAffineDimExpr(loop.getDim(), op.getContext()));
    }
    AffineMap map = AffineMap::get(op.getNumLoops(), 0, indices, op.getContext());
    return map.isProjectedPermutation(/*allowZeroInResults=*/true) ? std::optional(map) : std::nullopt;
  }
};

/// Numbers counted from the end are none here, and none is as long as what the loop runs over.
struct LoopIsWithinItsRange : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpIOp op, PatternRewriter &rewriter) const override {
    using Predicate = arith::CmpIPredicate;
    const bool isBelow = op.getPredicate() == Predicate::slt || op.getPredicate() == Predicate::ult,
               isNotBelow = op.getPredicate() == Predicate::sge || op.getPredicate() == Predicate::uge;
    linalg::IndexOp loop = loopBehind(op.getLhs());
    APInt limit;
    if (!loop || !matchPattern(op.getRhs(), m_ConstantInt(&limit)) || (!isBelow && !isNotBelow))
      return failure();
    const int64_t known = limit.getSExtValue(), size = rangeOf(loop);
    const bool isSigned = op.getPredicate() == Predicate::slt || op.getPredicate() == Predicate::sge;
    if (known <= 0 ? !isSigned : ShapedType::isDynamic(size) || size > known)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getBoolAttr((known > 0) == isBelow));
    return success();
  }

private:
  static int64_t rangeOf(linalg::IndexOp loop) {
    auto op = loop->getParentOfType<linalg::LinalgOp>();
    return op.getStaticLoopRanges()[loop.getDim()];
  }
};

/// A place that is kept inside of a dimension, as gathers keep theirs, where it is a loop's that runs over no more.
template <typename Clamp> struct LoopIsInside : OpRewritePattern<Clamp> {
  using OpRewritePattern<Clamp>::OpRewritePattern;
  LogicalResult matchAndRewrite(Clamp op, PatternRewriter &rewriter) const override {
    Value place = op.getLhs(), bound = op.getRhs();
    linalg::IndexOp loop = loopBehind(place);
    if (!loop) {
      std::swap(place, bound);
      loop = loopBehind(place);
    }
    auto generic = loop ? dyn_cast<linalg::GenericOp>(loop->getParentOp()) : linalg::GenericOp();
    if (!generic || generic->isAncestor(bound.getParentBlock()->getParentOp()))
      return failure();
    APInt number;
    if constexpr (std::is_same_v<Clamp, arith::MaxSIOp>) {
      if (!matchPattern(bound, m_ConstantInt(&number)) || number.isStrictlyPositive())
        return failure();
    } else {
      const int64_t size = generic.getStaticLoopRanges()[loop.getDim()];
      if (matchPattern(bound, m_ConstantInt(&number))) {
        if (ShapedType::isDynamic(size) || number.getSExtValue() < size - 1)
          return failure();
      } else if (!isLastOf(bound, generic, loop.getDim())) {
        return failure();
      }
    }
    rewriter.replaceOp(op, place);
    return success();
  }

private:
  /// Whether the value is one less than the loop has numbers.
  static bool isLastOf(Value bound, linalg::GenericOp op, unsigned loop) {
    auto less = bound.getDefiningOp<arith::SubIOp>();
    const SizeOrigin size = sizeOfLoop(op, loop);
    return less && size && matchPattern(less.getRhs(), m_One()) && size == sizeOriginOf(less.getLhs());
  }
};

} // namespace

void addRangesOfLoops(RewritePatternSet &patterns) {
  patterns.add<LoopIsWithinItsRange>(patterns.getContext());
}

void addLoopReads(RewritePatternSet &patterns) {
  patterns.add<LoopIsWithinItsRange, LoopIsInside<arith::MaxSIOp>, LoopIsInside<arith::MinSIOp>, ReadAtLoops>(
      patterns.getContext());
}

} // namespace tenon::compiler::dispatch
