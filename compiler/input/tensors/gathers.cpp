// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that other tensors name. The last dimension of the indices counts the coordinates that are named,
// the dimensions before it the slices that are taken: of source tensor<4x5x6>, indices tensor<7x1> and gather_dims([1])
// the result is tensor<7x4x1x6>, or tensor<7x4x6>.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// The result's dimension that counts each dimension of the whole tensor; none where the slice has no such dimension.
SmallVector<std::optional<unsigned>> sliceDimensions(int64_t wholeRank, int64_t batchRank, int64_t slicesRank,
                                                     ArrayRef<int64_t> named) {
  const bool isFull = slicesRank == batchRank + wholeRank;
  SmallVector<std::optional<unsigned>> result;
  unsigned next = batchRank;
  for (int64_t dimension = 0; dimension < wholeRank; ++dimension) {
    if (llvm::is_contained(named, dimension)) {
      result.push_back(std::nullopt);
      next += isFull ? 1 : 0;
    } else {
      result.push_back(next++);
    }
  }
  return result;
}

struct LowerGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GatherOp op, PatternRewriter &rewriter) const override {
    const Location where = op.getLoc();
    const int64_t batchRank = op.getIndicesType().getRank() - 1;
    const auto dimensions =
        sliceDimensions(op.getSourceType().getRank(), batchRank, op.getResultType().getRank(), op.getGatherDims());
    const SmallVector<OpFoldResult> sourceSizes = tensor::getMixedSizes(rewriter, where, op.getSource());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, where, op.getIndices());
    sizes.resize(batchRank);
    sizes.resize(op.getResultType().getRank(), rewriter.getIndexAttr(1));
    for (auto [dimension, counted] : llvm::enumerate(dimensions))
      if (counted)
        sizes[*counted] = sourceSizes[dimension];
    Value result =
        buildElements(rewriter, where, op.getResultType(), sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> places(dimensions.size());
          for (auto [dimension, counted] : llvm::enumerate(dimensions))
            if (counted)
              places[dimension] = indices[*counted];
          for (auto [coordinate, dimension] : llvm::enumerate(op.getGatherDims())) {
            SmallVector<Value> at(indices.take_front(batchRank));
            at.push_back(arith::ConstantIndexOp::create(b, loc, coordinate));
            places[dimension] = clampIndex(b, loc, readElement(b, loc, op.getIndices(), at), sourceSizes[dimension]);
          }
          return readElement(b, loc, op.getSource(), places);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Each element of the result looks for the slice that names it: no order of stores to depend on. Loops: the result's
/// dimensions, then, reduced, those that count slices.
struct LowerScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ScatterOp op, PatternRewriter &rewriter) const override {
    if (!op.getUnique())
      return failure();
    const int64_t rank = op.getDestType().getRank(), batchRank = op.getIndicesType().getRank() - 1;
    const unsigned loops = rank + batchRank;
    const auto dimensions = sliceDimensions(rank, batchRank, op.getSourceType().getRank(), op.getScatterDims());
    SmallVector<AffineExpr> batch;
    for (unsigned loop = rank; loop < loops; ++loop)
      batch.push_back(rewriter.getAffineDimExpr(loop));
    SmallVector<AffineExpr> source(batch);
    source.resize(op.getSourceType().getRank(), rewriter.getAffineConstantExpr(0));
    for (auto [dimension, counted] : llvm::enumerate(dimensions))
      if (counted)
        source[*counted] = rewriter.getAffineDimExpr(dimension);
    SmallVector<Value> inputs{op.getSource()};
    SmallVector<AffineMap> maps{AffineMap::get(loops, 0, source, getContext())};
    for (unsigned coordinate = 0; coordinate < op.getScatterDims().size(); ++coordinate) {
      SmallVector<AffineExpr> at(batch);
      at.push_back(rewriter.getAffineConstantExpr(coordinate));
      inputs.push_back(op.getIndices());
      maps.push_back(AffineMap::get(loops, 0, at, getContext()));
    }
    maps.push_back(AffineMap::getMultiDimIdentityMap(loops, getContext()).getMajorSubMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.resize(loops, utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange(op.getResultType()), inputs, ValueRange(op.getDest()), maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          Value named;
          for (auto [coordinate, dimension] : llvm::enumerate(op.getScatterDims())) {
            Value index = arguments[1 + coordinate];
            if (!index.getType().isIndex())
              index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
            named = both(b, loc, named,
                         arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index,
                                               linalg::IndexOp::create(b, loc, dimension)));
          }
          Value element = arguments.front();
          if (named)
            element = arith::SelectOp::create(b, loc, named, element, arguments.back());
          linalg::YieldOp::create(b, loc, element);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

} // namespace

void addGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerScatter>(patterns.getContext());
}

} // namespace tenon::compiler::input
