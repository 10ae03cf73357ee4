// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of iree_linalg_ext that are loops of linalg after all: gathers, comparisons of arguments, stages of
// Fourier transforms, reversed elements. And topk_v2, whose result need not be in order, as topk, whose is; and the
// many best of a line as the first ones when it is sorted.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/linalg_ext/topk_places.h"
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

#include <numbers>

#include <limits>

using namespace mlir;

namespace tenon::compiler::input {
namespace {

SmallVector<Value> copyBody(OpBuilder &b, Block &body, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(yielded));
  return results;
}

struct LowerGather : OpRewritePattern<linalg_ext::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::GatherOp op, PatternRewriter &rewriter) const override {
    Value source = op.getInputs()[0], indices = op.getInputs()[1], output = op.getOutputs()[0];
    auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
    const int64_t depth = int64_t(op.getDimensionMap().size());
    const int64_t batch =
        linalg_ext::batchRankOf(typeOf(indices), typeOf(output), typeOf(source), depth, /*mayOverlap=*/false);
    const SmallVector<OpFoldResult> sourceSizes = tensor::getMixedSizes(rewriter, op.getLoc(), source);
    Value result =
        buildElements(rewriter, op.getLoc(), typeOf(output), tensor::getMixedSizes(rewriter, op.getLoc(), output),
                      [&](OpBuilder &b, Location loc, ValueRange places) {
                        SmallVector<Value> at(sourceSizes.size());
                        for (auto [coordinate, dimension] : llvm::enumerate(op.getDimensionMap())) {
                          SmallVector<Value> named(places.take_front(batch));
                          if (typeOf(indices).getRank() > batch)
                            named.push_back(arith::ConstantIndexOp::create(b, loc, coordinate));
                          at[dimension] =
                              clampIndex(b, loc, readElement(b, loc, indices, named), sourceSizes[dimension]);
                        }
                        int64_t next = batch;
                        for (Value &place : at)
                          if (!place)
                            place = places[next++];
                        Value element = readElement(b, loc, source, at);
                        Block *body = op.getRegion().empty() ? nullptr : &op.getRegion().front();
                        const bool isMasked = op.getInputs().size() == 3;
                        if (!body && !isMasked)
                          return element;
                        TypedAttr zero = b.getZeroAttr(typeOf(output).getElementType()); // none of complex numbers
                        Value old = isMasked || !zero || !body->getArgument(1).use_empty()
                                        ? readElement(b, loc, output, places)
                                        : arith::ConstantOp::create(b, loc, zero).getResult();
                        if (body)
                          element = copyBody(b, *body, {element, old}).front();
                        if (!isMasked)
                          return element;
                        Value isRead = readElement(b, loc, op.getInputs()[2], places.take_front(batch));
                        return arith::SelectOp::create(b, loc, isRead, element, old).getResult();
                      });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A place in front of every tensor, from where no slice reaches into one, in 32 bits as in 64.
constexpr int64_t kFarInFront = std::numeric_limits<int64_t>::min() + (int64_t(1) << 31);

/// What a mask leaves out is named a place outside of the tensor, where nothing is stored.
struct LowerMaskedScatter : OpRewritePattern<linalg_ext::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::ScatterOp op, PatternRewriter &rewriter) const override {
    if (!isMasked(op))
      return failure();
    Value indices = op.getInputs()[1], mask = op.getInputs()[2];
    const auto batch = unsigned(cast<RankedTensorType>(mask.getType()).getRank());
    auto type = cast<RankedTensorType>(indices.getType()).clone(rewriter.getI64Type());
    Value named = buildElements(
        rewriter, op.getLoc(), type, tensor::getMixedSizes(rewriter, op.getLoc(), indices),
        [&](OpBuilder &b, Location loc, ValueRange places) {
          Value outside = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(kFarInFront));
          Value place = readElement(b, loc, indices, places);
          if (place.getType().isIndex())
            place = arith::IndexCastOp::create(b, loc, b.getI64Type(), place);
          else if (place.getType() != b.getI64Type())
            place = arith::ExtSIOp::create(b, loc, b.getI64Type(), place);
          return arith::SelectOp::create(b, loc, readElement(b, loc, mask, places.take_front(batch)), place, outside)
              .getResult();
        });
    auto plain =
        linalg_ext::ScatterOp::create(rewriter, op.getLoc(), op.getResultTypes(), ValueRange{op.getInputs()[0], named},
                                      op.getOutputs(), op.getDimensionMapAttr(), op.getUniqueIndicesAttr());
    rewriter.inlineRegionBefore(op.getRegion(), plain.getRegion(), plain.getRegion().end());
    rewriter.replaceOp(op, plain);
    return success();
  }
};

/// The reduction that it is: the first of each line that its region puts before all others.
struct LowerArgCompare : OpRewritePattern<linalg_ext::ArgCompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::ArgCompareOp op, PatternRewriter &rewriter) const override {
    const int64_t rank = cast<RankedTensorType>(op.getInputs()[0].getType()).getRank();
    AffineMap all = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<AffineMap> maps(op.getInputs().size(), all);
    maps.resize(op.getInputs().size() + 2, all.dropResult(unsigned(op.getDimension())));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators[op.getDimension()] = utils::IteratorType::reduction;
    const bool hasIndices = op.getInputs().size() == 2;
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getResultTypes(), op.getInputs(), op.getOutputs(), maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          Value value = arguments[0], best = arguments[arguments.size() - 2], bestIndex = arguments.back();
          Value first = copyBody(b, op.getRegion().front(), {value, best}).front();
          Value index = hasIndices ? arguments[1] : Value();
          if (!index) {
            index = linalg::IndexOp::create(b, loc, op.getDimension());
            if (op.getIndexBase())
              index = arith::AddIOp::create(b, loc, index, op.getIndexBase());
            if (!bestIndex.getType().isIndex())
              index = arith::IndexCastOp::create(b, loc, bestIndex.getType(), index);
          }
          Value nextValue = arith::SelectOp::create(b, loc, first, value, best);
          Value nextIndex = arith::SelectOp::create(b, loc, first, index, bestIndex);
          linalg::YieldOp::create(b, loc, ValueRange{nextValue, nextIndex});
        });
    return success();
  }
};

/// Element j of a group of m = 2^stage is u + t in its first half and u - t in its second, where u and v are the
/// elements at j mod m/2 of both halves and t = w v.
struct LowerFft : OpRewritePattern<linalg_ext::FftOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::FftOp op, PatternRewriter &rewriter) const override {
    Value real = op.getOutputs()[0];
    auto type = cast<RankedTensorType>(real.getType());
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), real);
    SmallVector<Value> results;
    for (bool isImaginary : {false, true})
      results.push_back(
          buildElements(rewriter, op.getLoc(), type, sizes, [&](OpBuilder &b, Location loc, ValueRange places) {
            return element(op, b, loc, places, isImaginary);
          }));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static Value element(linalg_ext::FftOp op, OpBuilder &b, Location loc, ValueRange places, bool isImaginary) {
    Type type = cast<RankedTensorType>(op.getOutputs()[0].getType()).getElementType();
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value size = arith::ShLIOp::create(b, loc, one, op.getInputs()[0]);
    Value half = arith::ShRUIOp::create(b, loc, size, one);
    Value inGroup = arith::RemUIOp::create(b, loc, places.back(), size);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, inGroup, half);
    Value k = arith::SelectOp::create(b, loc, isFirst, inGroup, arith::SubIOp::create(b, loc, inGroup, half));
    Value base = arith::AddIOp::create(b, loc, arith::SubIOp::create(b, loc, places.back(), inGroup), k);
    SmallVector<Value> at(places.begin(), places.end());
    auto read = [&](Value tensor, Value place) {
      at.back() = place;
      return readElement(b, loc, tensor, at);
    };
    Value other = arith::AddIOp::create(b, loc, base, half);
    Value u = read(op.getOutputs()[isImaginary ? 1 : 0], base);
    Value vReal = read(op.getOutputs()[0], other), vImaginary = read(op.getOutputs()[1], other);
    auto [wReal, wImaginary] = factor(op, b, loc, k, size, type);
    auto mul = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
    Value t = isImaginary ? arith::AddFOp::create(b, loc, mul(wReal, vImaginary), mul(wImaginary, vReal)).getResult()
                          : arith::SubFOp::create(b, loc, mul(wReal, vReal), mul(wImaginary, vImaginary)).getResult();
    Value sum = arith::AddFOp::create(b, loc, u, t), difference = arith::SubFOp::create(b, loc, u, t);
    return arith::SelectOp::create(b, loc, isFirst, sum, difference);
  }

  static std::pair<Value, Value> factor(linalg_ext::FftOp op, OpBuilder &b, Location loc, Value k, Value size,
                                        Type type) {
    if (op.getInputs().size() == 3)
      return {readElement(b, loc, op.getInputs()[1], k), readElement(b, loc, op.getInputs()[2], k)};
    auto real = [&](Value index) -> Value {
      return arith::UIToFPOp::create(b, loc, type, arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
    };
    Value turn = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, -2 * std::numbers::pi));
    Value angle = arith::MulFOp::create(b, loc, arith::DivFOp::create(b, loc, turn, real(size)), real(k));
    return {math::CosOp::create(b, loc, angle), math::SinOp::create(b, loc, angle)};
  }
};

struct LowerReverse : OpRewritePattern<linalg_ext::ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::ReverseOp op, PatternRewriter &rewriter) const override {
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput());
    Value result = buildElements(rewriter, op.getLoc(), cast<RankedTensorType>(op.getInput().getType()), sizes,
                                 [&](OpBuilder &b, Location loc, ValueRange places) {
                                   SmallVector<Value> at(places);
                                   for (const APInt &dimension : op.getDimensions().getValues<APInt>()) {
                                     Value &place = at[dimension.getZExtValue()];
                                     Value size =
                                         getValueOrCreateConstantIndexOp(b, loc, sizes[dimension.getZExtValue()]);
                                     Value last = subtractIndex(b, loc, size, b.getIndexAttr(1));
                                     place = arith::SubIOp::create(b, loc, last, place);
                                   }
                                   return readElement(b, loc, op.getInput(), at);
                                 });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct RenameSoftmax : OpRewritePattern<linalg_ext::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::SoftmaxOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg::SoftmaxOp>(op, TypeRange(op.getResult().getType()), op.getInput(),
                                                   op.getOutput(), uint64_t(op.getDimension()));
    return success();
  }
};

/// Of whole operands the body is the whole results.
struct InlineCustom : OpRewritePattern<linalg_ext::CustomOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::CustomOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getRegion().front();
    auto cast = [&](Value value, Type type) {
      return value.getType() == type ? value : tensor::CastOp::create(rewriter, op.getLoc(), type, value).getResult();
    };
    SmallVector<Value> arguments;
    for (auto [operand, argument] : llvm::zip_equal(op->getOperands(), body.getArguments()))
      arguments.push_back(cast(operand, argument.getType()));
    Operation *yield = body.getTerminator();
    rewriter.inlineBlockBefore(&body, op, arguments);
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip_equal(yield->getOperands(), op.getResultTypes()))
      results.push_back(cast(value, type));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct SortTopk : OpRewritePattern<linalg_ext::TopkV2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::TopkV2Op op, PatternRewriter &rewriter) const override {
    auto sorted = linalg_ext::TopkOp::create(rewriter, op.getLoc(), op.getResultTypes(), op.getInputs(),
                                             op.getOutputs(), op.getDimensionAttr());
    rewriter.inlineRegionBefore(op.getRegion(), sorted.getRegion(), sorted.getRegion().end());
    rewriter.replaceOp(op, sorted);
    return success();
  }
};

/// The best of a line are kept in order by a block, which has a place for few. More of them, or a number that is not
/// known, are the first of a sorted line: what the result begins with, which stood before all, and then the elements.
struct SortManyBest : OpRewritePattern<linalg_ext::TopkOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::TopkOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    const auto along = unsigned(op.getDimension());
    auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
    Value values = op.getInputs()[0], start = op.getOutputs()[0];
    if (!areMany(typeOf(values), along, typeOf(start).getDimSize(along)))
      return failure();
    SmallVector<Value> lines = {behind(rewriter, loc, along, start, values)};
    if (op.getOutputs().size() == 2) {
      Value startIndices = op.getOutputs()[1];
      Value indices = op.getInputs().size() == 2
                          ? op.getInputs()[1]
                          : positions(rewriter, loc, along, values, typeOf(startIndices).getElementType());
      lines.push_back(behind(rewriter, loc, along, startIndices, indices));
    }
    auto sort = linalg_ext::SortOp::create(rewriter, loc, TypeRange(ValueRange(lines)), ValueRange(), lines,
                                           op.getDimensionAttr());
    Block *body = rewriter.createBlock(&sort.getRegion());
    SmallVector<Value> compared;
    for (Value line : lines)
      for (unsigned side = 0; side < 2; ++side) {
        Value argument = body->addArgument(typeOf(line).getElementType(), loc);
        if (line == lines.front())
          compared.push_back(argument);
      }
    rewriter.mergeBlocks(&op.getRegion().front(), body, compared);
    rewriter.setInsertionPointAfter(sort);
    SmallVector<Value> results;
    for (auto [sorted, output] : llvm::zip_equal(sort.getResults(), op.getOutputs())) {
      const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, output);
      const SmallVector<OpFoldResult> none(sizes.size(), rewriter.getIndexAttr(0));
      const SmallVector<OpFoldResult> steps(sizes.size(), rewriter.getIndexAttr(1));
      results.push_back(
          tensor::ExtractSliceOp::create(rewriter, loc, typeOf(output), sorted, none, sizes, steps).getResult());
    }
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static unsigned bitsOf(Type element) {
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return element.isIndex() ? IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
  }
  static bool areMany(RankedTensorType values, unsigned along, int64_t best) {
    if (best == ShapedType::kDynamic)
      return true;
    std::optional<int64_t> length;
    if (!values.isDynamicDim(along))
      length = values.getDimSize(along);
    const auto elementBytes = int64_t(llvm::divideCeil(bitsOf(values.getElementType()), 8u));
    return best > linalg_ext::topkEntries(elementBytes, linalg_ext::topkPlaceBits(length, best)) / 2;
  }
  static Value behind(OpBuilder &b, Location loc, unsigned along, Value first, Value then) {
    return tensor::ConcatOp::create(b, loc, along, ValueRange{first, then});
  }
  static Value positions(OpBuilder &b, Location loc, unsigned along, Value of, Type element) {
    auto type = RankedTensorType::get(cast<RankedTensorType>(of.getType()).getShape(), element);
    return buildElements(b, loc, type, tensor::getMixedSizes(b, loc, of),
                         [&](OpBuilder &inside, Location, ValueRange places) -> Value {
                           if (element.isIndex())
                             return places[along];
                           return arith::IndexCastOp::create(inside, loc, element, places[along]);
                         });
  }
};

} // namespace

bool isMasked(linalg_ext::ScatterOp scatter) {
  return scatter.getInputs().size() == 3;
}

void addAlongPatterns(RewritePatternSet &patterns) {
  patterns.add<InlineCustom, LowerArgCompare, LowerFft, LowerGather, LowerMaskedScatter, LowerReverse, RenameSoftmax,
               SortManyBest, SortTopk>(patterns.getContext());
}

} // namespace tenon::compiler::input
