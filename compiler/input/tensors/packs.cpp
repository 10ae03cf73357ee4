// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors cut into tiles: of tensor<10x20> and tiles of 4 x 8, linalg.pack makes tensor<3x3x4x8>, its last tiles
// padded. Outer dimensions come first, permuted by outer_dims_perm, then the tiles in the order of inner_dims_pos.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// How a dimension of the tensor lies in the packed one.
struct Place {
  unsigned outer = 0;            // the packed dimension that counts it, or its tiles
  std::optional<unsigned> inner; // the packed dimension within a tile
  OpFoldResult tile;             // its size
};

template <typename Op> SmallVector<Place> placesOf(Op op, unsigned rank) {
  SmallVector<Place> places(rank);
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    places[op.getOuterDimsPerm().empty() ? dimension : op.getOuterDimsPerm()[dimension]].outer = dimension;
  for (auto [number, dimension, tile] : llvm::enumerate(op.getInnerDimsPos(), op.getMixedTiles())) {
    places[dimension].inner = rank + number;
    places[dimension].tile = tile;
  }
  return places;
}

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op, PatternRewriter &rewriter) const override {
    auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto type = dyn_cast<RankedTensorType>(op.getDest().getType());
    if (!sourceType || !type)
      return failure();
    const Location where = op.getLoc();
    const SmallVector<Place> places = placesOf(op, sourceType.getRank());
    const Window source(rewriter, where, op.getSource());
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, where, op.getDest());
    Value result = buildElements(rewriter, where, type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
      Window window = source;
      for (auto [dimension, place] : llvm::enumerate(places)) {
        Value index = indices[place.outer], condition;
        if (place.inner) {
          index = multiplyIndex(b, loc, index, place.tile);
          index = arith::AddIOp::create(b, loc, index, indices[*place.inner]);
          const std::optional<int64_t> tile = getConstantIntValue(place.tile),
                                       size = getConstantIntValue(source.sizes[dimension]);
          // Without padding the tiles fill the tensor; where they do not, nothing outside of it is read all the same.
          if (!(tile && size && *size % *tile == 0))
            condition = isBelow(b, loc, index, source.sizes[dimension]);
        }
        window.add(b, loc, index, condition);
      }
      return window.read(b, loc, op.getPaddingValue());
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getDest().getType());
    if (!type || !isa<RankedTensorType>(op.getSource().getType()))
      return failure();
    const SmallVector<Place> places = placesOf(op, type.getRank());
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getDest());
    Value result =
        buildElements(rewriter, op.getLoc(), type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> at(cast<RankedTensorType>(op.getSource().getType()).getRank());
          for (auto [dimension, place] : llvm::enumerate(places)) {
            at[place.outer] = place.inner ? divideIndex(b, loc, indices[dimension], place.tile) : indices[dimension];
            if (place.inner)
              at[*place.inner] = remainderIndex(b, loc, indices[dimension], place.tile);
          }
          return readElement(b, loc, op.getSource(), at);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void addPackPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPack, LowerUnPack>(patterns.getContext());
}

} // namespace tenon::compiler::input
