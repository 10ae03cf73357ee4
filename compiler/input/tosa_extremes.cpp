// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.reduce_max, tosa.reduce_min and tosa.max_pool2d of floats. A search for the largest begins at -inf, and borders
// of a window are -inf. MLIR's conversion begins at the largest finite number below 0, and gives that where all
// elements are -inf, as masked ones are. Integers are not concerned, which have an end.
//
// NaN wins, or is ignored: then it is the result of a dimension that has nothing else.
#include "compiler/input/tosa_extremes.h"
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// What any float is larger than, or smaller where it `isPositive`.
Value endOf(OpBuilder &b, Location loc, FloatType type, bool isPositive) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  const APFloat end = APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, !isPositive)
                                                          : APFloat::getLargest(semantics, !isPositive);
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, end));
}

Value filled(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes, Value value) {
  return linalg::FillOp::create(b, loc, value, buildEmpty(b, loc, type, sizes)).getResult(0);
}

Value larger(OpBuilder &b, Location loc, Value x, Value y, bool isMax, bool ignoresNan) {
  if (ignoresNan)
    return isMax ? Value(arith::MaxNumFOp::create(b, loc, x, y)) : Value(arith::MinNumFOp::create(b, loc, x, y));
  return isMax ? Value(arith::MaximumFOp::create(b, loc, x, y)) : Value(arith::MinimumFOp::create(b, loc, x, y));
}

/// The type of the elements, where they are floats of 16 bits and more.
FloatType comparedType(RankedTensorType input) {
  auto element = input ? dyn_cast<FloatType>(input.getElementType()) : FloatType();
  return element && element.getWidth() >= 16 ? element : FloatType();
}

template <typename Op> struct ReadReduce : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool kIsMax = std::is_same_v<Op, tosa::ReduceMaxOp>;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    const FloatType element = comparedType(input);
    if (!type || !element)
      return failure();
    const Location loc = op.getLoc();
    const int64_t rank = input.getRank(), axis = op.getAxis();
    const bool ignoresNan = op.getNanMode() == tosa::NanPropagationMode::IGNORE;
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    SmallVector<int64_t> shape(input.getShape());
    sizes.erase(sizes.begin() + axis);
    shape.erase(shape.begin() + axis);
    auto reduced = RankedTensorType::get(shape, element);
    auto flags = RankedTensorType::get(shape, rewriter.getI1Type());

    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators(size_t(rank), utils::IteratorType::parallel);
    iterators[size_t(axis)] = utils::IteratorType::reduction;
    for (int64_t dimension = 0; dimension < rank; ++dimension)
      if (dimension != axis)
        kept.push_back(rewriter.getAffineDimExpr(unsigned(dimension)));
    const AffineMap out = AffineMap::get(unsigned(rank), 0, kept, rewriter.getContext());

    SmallVector<Value> begin = {filled(rewriter, loc, reduced, sizes, endOf(rewriter, loc, element, !kIsMax))};
    if (ignoresNan) // whether there was nothing else
      begin.push_back(
          filled(rewriter, loc, flags, sizes, arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true))));
    SmallVector<AffineMap> maps = {rewriter.getMultiDimIdentityMap(unsigned(rank)), out};
    maps.resize(1 + begin.size(), out);
    auto body = [&](OpBuilder &b, Location at, ValueRange elements) {
      SmallVector<Value> results = {larger(b, at, elements[1], elements[0], kIsMax, ignoresNan)};
      if (ignoresNan) {
        Value isNan = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UNO, elements[0], elements[0]);
        results.push_back(arith::AndIOp::create(b, at, elements[2], isNan));
      }
      linalg::YieldOp::create(b, at, results);
    };
    auto search = linalg::GenericOp::create(rewriter, loc, ValueRange(begin).getTypes(), ValueRange(op.getInput()),
                                            begin, maps, iterators, body);
    Value result = search.getResult(0);
    if (ignoresNan)
      result = chooseNan(rewriter, loc, search.getResult(0), search.getResult(1), sizes);

    // The dimension stays, and measures 1.
    SmallVector<ReassociationIndices> groups(size_t(std::max<int64_t>(rank - 1, 0)));
    for (int64_t dimension = 0; rank > 1 && dimension < rank; ++dimension)
      groups[size_t(dimension > axis || (dimension == axis && axis > 0) ? dimension - 1 : dimension)].push_back(
          dimension);
    shape.insert(shape.begin() + axis, 1);
    result = tensor::ExpandShapeOp::create(rewriter, loc, RankedTensorType::get(shape, element), result, groups);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  static Value chooseNan(OpBuilder &builder, Location loc, Value found, Value isNan, ArrayRef<OpFoldResult> sizes) {
    auto type = cast<RankedTensorType>(found.getType());
    auto element = cast<FloatType>(type.getElementType());
    const AffineMap map = builder.getMultiDimIdentityMap(unsigned(type.getRank()));
    return linalg::GenericOp::create(
               builder, loc, TypeRange(type), ValueRange{found, isNan},
               ValueRange(buildEmpty(builder, loc, type, sizes)), ArrayRef<AffineMap>{map, map, map},
               SmallVector<utils::IteratorType>(size_t(type.getRank()), utils::IteratorType::parallel),
               [&](OpBuilder &b, Location at, ValueRange elements) {
                 Value nan = arith::ConstantOp::create(
                     b, at, b.getFloatAttr(element, APFloat::getNaN(element.getFloatSemantics())));
                 linalg::YieldOp::create(b, at, Value(arith::SelectOp::create(b, at, elements[1], nan, elements[0])));
               })
        .getResult(0);
  }
};

struct ReadMaxPool : OpRewritePattern<tosa::MaxPool2dOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::MaxPool2dOp op, PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    const FloatType element = comparedType(input);
    if (!type || !element)
      return failure();
    const Location loc = op.getLoc();
    const ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(), pad = op.getPad();
    Value least = endOf(rewriter, loc, element, false);
    Value picture = op.getInput();
    if (llvm::any_of(pad, [](int64_t width) { return width != 0; })) {
      const SmallVector<int64_t> low = {0, pad[0], pad[2], 0}, high = {0, pad[1], pad[3], 0};
      picture = tensor::PadOp::create(rewriter, loc, tensor::PadOp::inferResultType(input, low, high), picture,
                                      getAsIndexOpFoldResult(rewriter.getContext(), low),
                                      getAsIndexOpFoldResult(rewriter.getContext(), high), least);
    }
    // A result has as many rows as windows fit: (rows - kernel) / stride + 1.
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, picture);
    SmallVector<int64_t> shape;
    for (unsigned i = 0; i < 2; ++i)
      sizes[1 + i] = affine::makeComposedFoldedAffineApply(
          rewriter, loc, AffineMap::get(0, 1, (rewriter.getAffineSymbolExpr(0) - kernel[i]).floorDiv(stride[i]) + 1),
          {sizes[1 + i]});
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto found = RankedTensorType::get(shape, element);
    Value window = tensor::EmptyOp::create(rewriter, loc, kernel, element);
    auto pool = linalg::PoolingNhwcMaxOp::create(rewriter, loc, TypeRange(found), ValueRange{picture, window},
                                                 filled(rewriter, loc, found, sizes, least),
                                                 rewriter.getI64VectorAttr(stride), rewriter.getI64VectorAttr({1, 1}));
    Value result = pool.getResult(0);
    if (op.getNanMode() == tosa::NanPropagationMode::IGNORE) {
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, pool);
      if (failed(generic))
        return failure();
      result = generic->getResult(0);
      generic->walk([&](arith::MaximumFOp maximum) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(maximum);
        rewriter.replaceOpWithNewOp<arith::MaxNumFOp>(maximum, maximum.getLhs(), maximum.getRhs());
      });
    }
    if (found != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void addExtremePatterns(RewritePatternSet &patterns) {
  patterns.add<ReadReduce<tosa::ReduceMaxOp>, ReadReduce<tosa::ReduceMinOp>, ReadMaxPool>(patterns.getContext());
}

} // namespace tenon::compiler::input
