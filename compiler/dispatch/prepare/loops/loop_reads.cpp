// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/loop_reads.h"

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
    for (auto [index, size] : llvm::zip_equal(read.getIndices(), type.getShape())) {
      linalg::IndexOp loop = loopBehind(index);
      if (!loop || ShapedType::isDynamic(size) || sizes[loop.getDim()] != size)
        return std::nullopt;
      indices.push_back(getAffineDimExpr(loop.getDim(), op.getContext()));
    }
    AffineMap map = AffineMap::get(op.getNumLoops(), 0, indices, op.getContext());
    return map.isProjectedPermutation() ? std::optional(map) : std::nullopt;
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

} // namespace

void addRangesOfLoops(RewritePatternSet &patterns) {
  patterns.add<LoopIsWithinItsRange>(patterns.getContext());
}

void addLoopReads(RewritePatternSet &patterns) {
  patterns.add<LoopIsWithinItsRange, ReadAtLoops>(patterns.getContext());
}

} // namespace tenon::compiler::dispatch
