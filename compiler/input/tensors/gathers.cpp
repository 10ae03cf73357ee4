// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that other tensors name. The last dimension of the indices counts the coordinates that are named,
// the dimensions before it the slices that are taken: of source tensor<4x5x6>, indices tensor<7x1> and gather_dims([1])
// the result is tensor<7x4x1x6>, or tensor<7x4x6>.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
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

/// A scatter of slices that have every dimension of the tensor, those that are named with one element.
struct LowerScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ScatterOp op, PatternRewriter &rewriter) const override {
    const int64_t rank = op.getDestType().getRank(), batchRank = op.getIndicesType().getRank() - 1;
    Value source = op.getSource();
    if (op.getSourceType().getRank() != batchRank + rank)
      source = withNamedDimensions(op, rewriter);
    auto scatter = linalg_ext::ScatterOp::create(rewriter, op.getLoc(), TypeRange(op.getResultType()),
                                                 ValueRange{source, op.getIndices()}, ValueRange(op.getDest()),
                                                 rewriter.getDenseI64ArrayAttr(op.getScatterDims()),
                                                 rewriter.getBoolAttr(op.getUnique()));
    Type element = op.getDestType().getElementType();
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&scatter.getRegion(), {}, {element, element}, {op.getLoc(), op.getLoc()});
    linalg_ext::YieldOp::create(rewriter, op.getLoc(), ValueRange(body->getArgument(0)));
    rewriter.replaceOp(op, scatter);
    return success();
  }

private:
  static Value withNamedDimensions(tensor::ScatterOp op, OpBuilder &b) {
    const int64_t rank = op.getDestType().getRank(), batchRank = op.getIndicesType().getRank() - 1;
    const auto dimensions = sliceDimensions(rank, batchRank, op.getSourceType().getRank(), op.getScatterDims());
    const SmallVector<OpFoldResult> given = tensor::getMixedSizes(b, op.getLoc(), op.getSource());
    SmallVector<OpFoldResult> sizes(llvm::ArrayRef(given).take_front(batchRank));
    SmallVector<int64_t> shape(op.getSourceType().getShape().take_front(batchRank));
    for (auto counted : dimensions) {
      sizes.push_back(counted ? given[*counted] : OpFoldResult(b.getIndexAttr(1)));
      shape.push_back(counted ? op.getSourceType().getDimSize(*counted) : 1);
    }
    auto type = RankedTensorType::get(shape, op.getSourceType().getElementType());
    return buildElements(b, op.getLoc(), type, sizes, [&](OpBuilder &inner, Location loc, ValueRange indices) {
      SmallVector<Value> places(indices.take_front(batchRank));
      for (auto [dimension, counted] : llvm::enumerate(dimensions))
        if (counted)
          places.push_back(indices[batchRank + dimension]);
      return readElement(inner, loc, op.getSource(), places);
    });
  }
};

} // namespace

void addGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerScatter>(patterns.getContext());
}

} // namespace tenon::compiler::input
