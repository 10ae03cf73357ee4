// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Winograd's convolution F(m x m, r x r): Y = A^T [(G g G^T) * (B^T d B)] A for a filter g of r x r and m x m results
// of each tile d of a = m + r - 1. Each transform is a sum over the elements of one small matrix, of which the loops p
// and q count rows and columns. Along a dimension in which the filter measures 1 nothing is transformed.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct Matrix {
  unsigned rows, columns;
  ArrayRef<double> elements;
};

/// Those that linalg::decomposeWinogradOps has, so that transforms of both fit together. scale: of each side of A^T v
/// A.
struct Transforms {
  Matrix g, bt, at;
  double scale;
};

constexpr double kG23[] = {-1, 0, 0, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0, 0, 1};
constexpr double kBT23[] = {-1, 0, 1, 0, 0, -1, 1, 0, 0, 1, 1, 0, 0, -1, 0, 1};
constexpr double kAT23[] = {1, 1, 1, 0, 0, -1, 1, 1};

constexpr double kG43[] = {1,       0,       0,      -1. / 3, 1. / 3, -1. / 3, -1. / 3, -1. / 3, -1. / 3,
                           1. / 12, -1. / 6, 1. / 3, 1. / 12, 1. / 6, 1. / 3,  0,       0,       1};
constexpr double kBT43[] = {0.25, 0,     -0.3125, 0,      0.0625, 0, 0, 0.25, -0.25,  -0.0625, 0.0625, 0,
                            0,    -0.25, -0.25,   0.0625, 0.0625, 0, 0, 0.25, -0.125, -0.25,   0.125,  0,
                            0,    -0.25, -0.125,  0.25,   0.125,  0, 0, 0.25, 0,      -0.3125, 0,      0.0625};
constexpr double kAT43[] = {0.125, 0.25, 0.25, 0.125, 0.125, 0, 0, -0.25, 0.25, -0.25, 0.25, 0,
                            0,     0.25, 0.25, 0.5,   0.5,   0, 0, -0.25, 0.25, -1,    1,    0.5};

constexpr double kG25[] = {1,       0,       0,       0,       0,       1. / 6,   -1. / 6, 1. / 6,   -1. / 6, 1. / 6,
                           -1. / 6, -1. / 6, -1. / 6, -1. / 6, -1. / 6, -4. / 15, 2. / 15, -1. / 15, 1. / 30, -1. / 60,
                           1. / 60, 1. / 30, 1. / 15, 2. / 15, 4. / 15, 0,        0,       0,        0,       1};
constexpr double kBT25[] = {0.125, 0.1875, -0.25,   -0.1875, 0.125, 0, 0, 0.125, 0.0625, -0.3125, 0.125,   0,
                            0,     -0.125, -0.3125, -0.0625, 0.125, 0, 0, 0.25,  -0.125, -0.25,   0.125,   0,
                            0,     -0.125, -0.25,   0.125,   0.25,  0, 0, 0.125, 0.1875, -0.25,   -0.1875, 0.125};
constexpr double kAT25[] = {0.5, 1, 1, 2, 1, 0, 0, -1, 1, -1, 2, 0.5};

const Transforms *transformsOf(linalg::WinogradConv2DFmr fmr) {
  static const Transforms kF23{{4, 3, kG23}, {4, 4, kBT23}, {2, 4, kAT23}, 1},
      kF43{{6, 3, kG43}, {6, 6, kBT43}, {4, 6, kAT43}, 32}, kF25{{6, 5, kG25}, {6, 6, kBT25}, {2, 6, kAT25}, 16};
  switch (fmr) {
  case linalg::WinogradConv2DFmr::F_2_3:
    return &kF23;
  case linalg::WinogradConv2DFmr::F_4_3:
    return &kF43;
  case linalg::WinogradConv2DFmr::F_2_5:
    return &kF25;
  }
  return nullptr;
}

constexpr double kOne[] = {1};
const Matrix kNone{1, 1, kOne};

Value constantOf(OpBuilder &b, Location loc, const Matrix &matrix, FloatType type) {
  SmallVector<Attribute> elements;
  for (double element : matrix.elements)
    elements.push_back(b.getFloatAttr(type, element));
  auto shape = RankedTensorType::get({matrix.rows, matrix.columns}, type);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(shape, elements));
}

/// result[..] = sum over p and q of rows[i, p] * source[..] * columns[j, q]. Six loops: those of the result, then p, q.
Value transform(PatternRewriter &b, Location loc, Value source, AffineMap sourceMap, const Matrix &rows, unsigned i,
                const Matrix &columns, unsigned j, RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  auto element = cast<FloatType>(type.getElementType());
  const unsigned rank = type.getRank(), loops = rank + 2;
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0));
  Value start = linalg::FillOp::create(b, loc, zero, buildEmpty(b, loc, type, sizes)).getResult(0);
  auto d = [&](unsigned loop) { return b.getAffineDimExpr(loop); };
  const SmallVector<AffineMap> maps{sourceMap, AffineMap::get(loops, 0, {d(i), d(rank)}, b.getContext()),
                                    AffineMap::get(loops, 0, {d(j), d(rank + 1)}, b.getContext()),
                                    b.getMultiDimIdentityMap(loops).getMajorSubMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.resize(loops, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange(type),
      ValueRange{source, constantOf(b, loc, rows, element), constantOf(b, loc, columns, element)}, ValueRange(start),
      maps, iterators, [](OpBuilder &inner, Location where, ValueRange arguments) {
        Value left = arith::MulFOp::create(inner, where, arguments[1], arguments[0]);
        Value both = arith::MulFOp::create(inner, where, left, arguments[2]);
        Value sum = arith::AddFOp::create(inner, where, arguments[3], both);
        linalg::YieldOp::create(inner, where, sum);
      });
  return generic.getResult(0);
}

struct LowerFilter : OpRewritePattern<linalg::WinogradFilterTransformOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::WinogradFilterTransformOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
    auto filter = dyn_cast<RankedTensorType>(op.getFilter().getType());
    const Transforms *transforms = transformsOf(op.getFmr());
    if (!type || !filter || !isa<FloatType>(type.getElementType()) || !transforms)
      return failure();
    const Matrix &rows = filter.getDimSize(1) == 1 ? kNone : transforms->g;
    const Matrix &columns = filter.getDimSize(2) == 1 ? kNone : transforms->g;
    AffineExpr i, j, c, f, p, q; // of the filter: f, p, q, c
    bindDims(getContext(), i, j, c, f, p, q);
    rewriter.replaceOp(op, transform(rewriter, op.getLoc(), op.getFilter(),
                                     AffineMap::get(6, 0, {f, p, q, c}, getContext()), rows, 0, columns, 1, type,
                                     tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput())));
    return success();
  }
};

struct LowerInput : OpRewritePattern<linalg::WinogradInputTransformOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::WinogradInputTransformOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
    const Transforms *transforms = transformsOf(op.getFmr());
    if (!type || !isa<RankedTensorType>(op.getInput().getType()) || !isa<FloatType>(type.getElementType()) ||
        !transforms)
      return failure();
    const Matrix &rows = type.getDimSize(0) == 1 ? kNone : transforms->bt;
    const Matrix &columns = type.getDimSize(1) == 1 ? kNone : transforms->bt;
    auto step = [&](const Matrix &matrix) -> int64_t { return &matrix == &kNone ? 1 : transforms->at.rows; };
    AffineExpr i, j, row, column, n, c, p, q; // of the input: n, h, w, c
    bindDims(getContext(), i, j, row, column, n, c, p, q);
    const AffineMap map = AffineMap::get(8, 0, {n, row * step(rows) + p, column * step(columns) + q, c}, getContext());
    rewriter.replaceOp(op, transform(rewriter, op.getLoc(), op.getInput(), map, rows, 0, columns, 1, type,
                                     tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput())));
    return success();
  }
};

/// Tiles are written as n, row, i, column, j, f, and seen as n, h, w, f; what was there before is added.
struct LowerOutput : OpRewritePattern<linalg::WinogradOutputTransformOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::WinogradOutputTransformOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
    auto value = dyn_cast<RankedTensorType>(op.getValue().getType());
    const Transforms *transforms = transformsOf(op.getFmr());
    if (!type || !value || !isa<FloatType>(type.getElementType()) || !transforms)
      return failure();
    const Location loc = op.getLoc();
    const Matrix &rows = value.getDimSize(0) == 1 ? kNone : transforms->at;
    const Matrix &columns = value.getDimSize(1) == 1 ? kNone : transforms->at;
    const SmallVector<OpFoldResult> of = tensor::getMixedSizes(rewriter, loc, op.getValue());
    const SmallVector<OpFoldResult> sizes{
        of[4], of[2], rewriter.getIndexAttr(rows.rows), of[3], rewriter.getIndexAttr(columns.rows), of[5]};
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(isa<Attribute>(size) ? cast<IntegerAttr>(cast<Attribute>(size)).getInt() : ShapedType::kDynamic);
    AffineExpr n, row, i, column, j, f, p, q; // of the value: p, q, row, column, n, f
    bindDims(getContext(), n, row, i, column, j, f, p, q);
    Value tiles = transform(rewriter, loc, op.getValue(), AffineMap::get(8, 0, {p, q, row, column, n, f}, getContext()),
                            rows, 2, columns, 4, RankedTensorType::get(shape, type.getElementType()), sizes);
    const SmallVector<ReassociationIndices> groups{{0}, {1, 2}, {3, 4}, {5}};
    Value flat = tensor::CollapseShapeOp::create(rewriter, loc, tiles, groups);
    if (flat.getType() != type)
      flat = tensor::CastOp::create(rewriter, loc, type, flat);
    const double scale = (&rows == &kNone ? 1 : transforms->scale) * (&columns == &kNone ? 1 : transforms->scale);
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(4));
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(type), ValueRange(flat), ValueRange(op.getOutput()), maps,
        SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
        [&](OpBuilder &b, Location where, ValueRange arguments) {
          Value factor = arith::ConstantOp::create(b, where, b.getFloatAttr(type.getElementType(), scale));
          Value scaled = arith::MulFOp::create(b, where, arguments[0], factor);
          Value sum = arith::AddFOp::create(b, where, scaled, arguments[1]);
          linalg::YieldOp::create(b, where, sum);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

} // namespace

void addWinogradPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFilter, LowerInput, LowerOutput>(patterns.getContext());
}

} // namespace tenon::compiler::input
