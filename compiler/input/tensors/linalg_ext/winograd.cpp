// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.winograd: F(6 x 6, 3 x 3) of tiles that lie as [8, 8, n, row, column, c]. linalg's own transforms
// (../winograd.cpp) have other sizes, and tiles in another order; both are sums over the elements of small matrices:
//   of an image d: B^T d B, tiles 6 apart, zeros beyond its end;   of a filter g: G g G^T;   of products m: A^T m A
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

// Rows of B^T, G and A^T. The points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity.
constexpr double kBT[8][8] = {{1, 0, -5.25, 0, 5.25, 0, -1, 0},      {0, 1, 1, -4.25, -4.25, 1, 1, 0},
                              {0, -1, 1, 4.25, -4.25, -1, 1, 0},     {0, 0.5, 0.25, -2.5, -1.25, 2, 1, 0},
                              {0, -0.5, 0.25, 2.5, -1.25, -2, 1, 0}, {0, 2, 4, -2.5, -5, 0.5, 1, 0},
                              {0, -2, 4, 2.5, -5, -0.5, 1, 0},       {0, -1, 0, 5.25, 0, -5.25, 0, 1}};
constexpr double kG[8][3] = {{1, 0, 0},
                             {-2. / 9, -2. / 9, -2. / 9},
                             {-2. / 9, 2. / 9, -2. / 9},
                             {1. / 90, 1. / 45, 2. / 45},
                             {1. / 90, -1. / 45, 2. / 45},
                             {32. / 45, 16. / 45, 8. / 45},
                             {32. / 45, -16. / 45, 8. / 45},
                             {0, 0, 1}};
constexpr double kAT[6][8] = {{1, 1, 1, 1, 1, 1, 1, 0},
                              {0, 1, -1, 2, -2, 0.5, -0.5, 0},
                              {0, 1, 1, 4, 4, 0.25, 0.25, 0},
                              {0, 1, -1, 8, -8, 0.125, -0.125, 0},
                              {0, 1, 1, 16, 16, 0.0625, 0.0625, 0},
                              {0, 1, -1, 32, -32, 0.03125, -0.03125, 1}};
constexpr int64_t kStep = 6; // from a tile to the next

template <size_t rows, size_t columns>
Value constantOf(OpBuilder &b, Location loc, const double (&matrix)[rows][columns], Type type) {
  SmallVector<Attribute> elements;
  for (const auto &row : matrix)
    for (double element : row)
      elements.push_back(b.getFloatAttr(type, element));
  auto shape = RankedTensorType::get({int64_t(rows), int64_t(columns)}, type);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(shape, elements));
}

/// result[i, j, ..] = sum over p, q of matrix[i, p] * source[p, q, ..] * matrix[j, q]; `map` says where source lies, by
/// the loops of the result and then p and q.
Value bothSides(OpBuilder &b, Location loc, Value source, AffineMap map, Value matrix, RankedTensorType type,
                ArrayRef<OpFoldResult> sizes) {
  const unsigned rank = type.getRank();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  Value start = linalg::FillOp::create(b, loc, zero, buildEmpty(b, loc, type, sizes)).getResult(0);
  auto d = [&](unsigned loop) { return b.getAffineDimExpr(loop); };
  const SmallVector<AffineMap> maps{map, AffineMap::get(rank + 2, 0, {d(0), d(rank)}, b.getContext()),
                                    AffineMap::get(rank + 2, 0, {d(1), d(rank + 1)}, b.getContext()),
                                    b.getMultiDimIdentityMap(rank + 2).getMajorSubMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.resize(rank + 2, utils::IteratorType::reduction);
  return linalg::GenericOp::create(b, loc, TypeRange(type), ValueRange{source, matrix, matrix}, ValueRange(start), maps,
                                   iterators,
                                   [](OpBuilder &inner, Location where, ValueRange x) {
                                     Value left = arith::MulFOp::create(inner, where, x[1], x[0]);
                                     Value both = arith::MulFOp::create(inner, where, left, x[2]);
                                     Value sum = arith::AddFOp::create(inner, where, x[3], both);
                                     linalg::YieldOp::create(inner, where, sum);
                                   })
      .getResult(0);
}

/// The tiles, [8, 8, n, row, column, c], with zeros where the image has ended; then the sums.
struct LowerInput : OpRewritePattern<linalg_ext::WinogradInputOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::WinogradInputOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    const bool isLast = op.getDimensions()[0] == 1; // n, h, w, c
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput());
    const Window whole(rewriter, op.getLoc(), op.getInput());
    Value tiles = buildElements(rewriter, op.getLoc(), type, sizes,
                                [&](OpBuilder &b, Location loc, ValueRange x) { // i, j, n, row, column, c
                                  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
                                  Window window = whole;
                                  auto addSpatial = [&](Value tile, Value inTile, unsigned dimension) {
                                    Value first = multiplyIndex(b, loc, tile, b.getIndexAttr(kStep));
                                    Value place = arith::AddIOp::create(b, loc, first, inTile);
                                    window.add(b, loc, place, isBelow(b, loc, place, whole.sizes[dimension]));
                                  };
                                  window.add(b, loc, x[2]);
                                  if (!isLast)
                                    window.add(b, loc, x[5]);
                                  addSpatial(x[3], x[0], isLast ? 1 : 2);
                                  addSpatial(x[4], x[1], isLast ? 2 : 3);
                                  if (isLast)
                                    window.add(b, loc, x[5]);
                                  return window.read(b, loc, zero);
                                });
    AffineExpr i, j, n, row, column, c, p, q;
    bindDims(getContext(), i, j, n, row, column, c, p, q);
    rewriter.replaceOp(op, bothSides(rewriter, op.getLoc(), tiles,
                                     AffineMap::get(8, 0, {p, q, n, row, column, c}, getContext()),
                                     constantOf(rewriter, op.getLoc(), kBT, type.getElementType()), type, sizes));
    return success();
  }
};

struct LowerFilter : OpRewritePattern<linalg_ext::WinogradFilterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::WinogradFilterOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    AffineExpr i, j, c, f, p, q;
    bindDims(getContext(), i, j, c, f, p, q);
    const SmallVector<AffineExpr> from =
        op.getDimensions()[0] == 0 ? SmallVector<AffineExpr>{p, q, c, f} : SmallVector<AffineExpr>{f, c, p, q};
    rewriter.replaceOp(op, bothSides(rewriter, op.getLoc(), op.getInput(), AffineMap::get(6, 0, from, getContext()),
                                     constantOf(rewriter, op.getLoc(), kG, type.getElementType()), type,
                                     tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput())));
    return success();
  }
};

/// Results of tiles, [6, 6, n, row, column, c], then the image that they are.
struct LowerOutput : OpRewritePattern<linalg_ext::WinogradOutputOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::WinogradOutputOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    auto products = cast<RankedTensorType>(op.getInput().getType()),
         type = cast<RankedTensorType>(op.getOutput().getType());
    SmallVector<int64_t> shape(products.getShape());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    shape[0] = shape[1] = kStep;
    sizes[0] = sizes[1] = rewriter.getIndexAttr(kStep);
    AffineExpr i, j, n, row, column, c, p, q;
    bindDims(getContext(), i, j, n, row, column, c, p, q);
    Value tiles = bothSides(rewriter, loc, op.getInput(), AffineMap::get(8, 0, {p, q, n, row, column, c}, getContext()),
                            constantOf(rewriter, loc, kAT, type.getElementType()),
                            RankedTensorType::get(shape, type.getElementType()), sizes);
    const bool isLast = op.getDimensions()[0] == 1;
    Value image =
        buildElements(rewriter, loc, type, tensor::getMixedSizes(rewriter, loc, op.getOutput()),
                      [&](OpBuilder &b, Location where, ValueRange x) {
                        Value h = x[isLast ? 1 : 2], w = x[isLast ? 2 : 3], channel = x[isLast ? 3 : 1];
                        const OpFoldResult step = b.getIndexAttr(kStep);
                        return readElement(b, where, tiles,
                                           {remainderIndex(b, where, h, step), remainderIndex(b, where, w, step), x[0],
                                            divideIndex(b, where, h, step), divideIndex(b, where, w, step), channel});
                      });
    rewriter.replaceOp(op, image);
    return success();
  }
};

} // namespace

void addWinogradExtPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFilter, LowerInput, LowerOutput>(patterns.getContext());
}

} // namespace tenon::compiler::input
