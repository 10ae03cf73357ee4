// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.attention: the operations that it stands for. They become one kernel again (dispatch/attention), like
// those of programs that never had it.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::input {
namespace {

using Loops = llvm::SmallSetVector<unsigned, 8>;

Value convertFloat(OpBuilder &b, Location loc, Value value, Type type) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from == to) // f16 and bf16
    return convertFloat(b, loc, arith::ExtFOp::create(b, loc, b.getF32Type(), value), type);
  return from < to ? arith::ExtFOp::create(b, loc, type, value).getResult()
                   : arith::TruncFOp::create(b, loc, type, value).getResult();
}

/// Writes the operations of one attention.
class Lowering {
public:
  Lowering(linalg_ext::AttentionOp op, OpBuilder &b) : op_(op), b_(b), loc_(op.getLoc()) {
    Value inputs[] = {op.getInputs()[0], op.getInputs()[1], op.getInputs()[2]};
    const bool isDouble = llvm::any_of(inputs, [](Value each) { return getElementTypeOrSelf(each.getType()).isF64(); });
    wide_ = isDouble ? b.getF64Type() : b.getF32Type();
    for (auto [number, input] : llvm::enumerate(inputs)) {
      const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc_, input);
      for (auto [loop, size] : llvm::zip_equal(loopsOf(number), sizes))
        if (OpFoldResult &known = size_[loop]; !known || isa<Attribute>(size))
          known = size;
    }
  }

  Value run() {
    const Loops queries = loopsOf(0), keys = loopsOf(1), values = loopsOf(2), result = loopsOf(resultNumber());
    Loops logits, depth, ofKeys;
    for (unsigned loop = 0; loop < op_.mapOf(0).getNumDims(); ++loop) {
      if (!queries.contains(loop) && !keys.contains(loop))
        continue;
      if (result.contains(loop))
        logits.insert(loop);
      else if (values.contains(loop))
        ofKeys.insert(loop);
      else
        depth.insert(loop);
    }
    logits.insert(ofKeys.begin(), ofKeys.end()); // the last
    Value scores = product(op_.getInputs()[0], queries, op_.getInputs()[1], keys, logits, depth);
    Value weights = softmax(masked(scores, logits, scaleOf(depth)), logits, ofKeys);
    Type factor = getElementTypeOrSelf(op_.getInputs()[2].getType());
    if (factor != wide_)
      weights = each(logits, {{weights, logits}}, factor,
                     [&](OpBuilder &b, ValueRange x) { return convertFloat(b, loc_, x[0], factor); });
    Value sums = product(weights, logits, op_.getInputs()[2], values, result, ofKeys);
    Type element = getElementTypeOrSelf(op_.getOutputs()[0].getType());
    Value narrow = element == wide_ ? sums : each(result, {{sums, result}}, element, [&](OpBuilder &b, ValueRange x) {
      return convertFloat(b, loc_, x[0], element);
    });
    return narrow.getType() == op_.getOutputs()[0].getType()
               ? narrow
               : tensor::CastOp::create(b_, loc_, op_.getOutputs()[0].getType(), narrow).getResult();
  }

private:
  struct Operand {
    Value tensor;
    Loops loops;
  };

  unsigned resultNumber() { return op_.getInputs().size(); }
  Loops loopsOf(unsigned operand) {
    Loops loops;
    for (AffineExpr expr : op_.mapOf(operand).getResults())
      loops.insert(cast<AffineDimExpr>(expr).getPosition());
    return loops;
  }

  AffineMap mapOf(const Loops &loops, const Loops &all) {
    SmallVector<AffineExpr> results;
    for (unsigned loop : loops)
      results.push_back(b_.getAffineDimExpr(llvm::find(all, loop) - all.begin()));
    return AffineMap::get(all.size(), 0, results, b_.getContext());
  }

  Value empty(const Loops &loops, Type element) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned loop : loops)
      sizes.push_back(size_.lookup(loop));
    return tensor::EmptyOp::create(b_, loc_, sizes, element);
  }

  Value each(const Loops &loops, ArrayRef<Operand> operands, Type element,
             llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
    SmallVector<Value> tensors;
    SmallVector<AffineMap> maps;
    for (const Operand &operand : operands) {
      tensors.push_back(operand.tensor);
      maps.push_back(mapOf(operand.loops, loops));
    }
    maps.push_back(mapOf(loops, loops));
    Value start = empty(loops, element);
    SmallVector<utils::IteratorType> types(loops.size(), utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b_, loc_, start.getType(), tensors, start, maps, types,
               [&](OpBuilder &b, Location, ValueRange x) { linalg::YieldOp::create(b, loc_, body(b, x)); })
        .getResult(0);
  }

  Value product(Value left, const Loops &ofLeft, Value right, const Loops &ofRight, const Loops &result,
                const Loops &reduced) {
    Loops all = result;
    all.insert(reduced.begin(), reduced.end());
    SmallVector<utils::IteratorType> types(result.size(), utils::IteratorType::parallel);
    types.append(reduced.size(), utils::IteratorType::reduction);
    Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(wide_));
    Value start = linalg::FillOp::create(b_, loc_, zero, empty(result, wide_)).getResult(0);
    return linalg::GenericOp::create(
               b_, loc_, start.getType(), ValueRange{left, right}, start,
               ArrayRef<AffineMap>{mapOf(ofLeft, all), mapOf(ofRight, all), mapOf(result, all)}, types,
               [&](OpBuilder &b, Location, ValueRange x) {
                 Value product = arith::MulFOp::create(b, loc_, convertFloat(b, loc_, x[0], wide_),
                                                       convertFloat(b, loc_, x[1], wide_));
                 linalg::YieldOp::create(b, loc_, arith::AddFOp::create(b, loc_, x[2], product).getResult());
               })
        .getResult(0);
  }

  /// The operand, or 1 / sqrt(depth).
  Value scaleOf(const Loops &depth) {
    if (std::optional<unsigned> number = op_.scaleNumber())
      return op_.getInputs()[*number];
    Value product = arith::ConstantIndexOp::create(b_, loc_, 1);
    for (unsigned loop : depth)
      product = b_.createOrFold<arith::MulIOp>(loc_, product, getValueOrCreateConstantIndexOp(b_, loc_, size_[loop]));
    if (APInt known; matchPattern(product, m_ConstantInt(&known)))
      return arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(wide_, 1 / std::sqrt(double(known.getSExtValue()))));
    Value whole = arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), product);
    Value root = math::SqrtOp::create(b_, loc_, arith::SIToFPOp::create(b_, loc_, wide_, whole));
    return arith::DivFOp::create(b_, loc_, arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(wide_, 1)), root);
  }

  /// Scaled, changed by the region, masked.
  Value masked(Value scores, const Loops &loops, Value factor) {
    SmallVector<Operand> operands = {{scores, loops}};
    const std::optional<unsigned> mask = op_.maskNumber();
    if (mask)
      operands.push_back({op_.getInputs()[*mask], loopsOf(*mask)});
    return each(loops, operands, wide_, [&](OpBuilder &b, ValueRange x) {
      Value scale = convertFloat(b, loc_, factor, wide_);
      Value score = arith::MulFOp::create(b, loc_, x[0], scale);
      Block &body = op_.getRegion().front();
      IRMapping mapping;
      mapping.map(body.getArgument(0), convertFloat(b, loc_, score, body.getArgument(0).getType()));
      for (Operation &inner : body.without_terminator())
        b.clone(inner, mapping);
      score = convertFloat(b, loc_, mapping.lookupOrDefault(body.getTerminator()->getOperand(0)), wide_);
      if (!mask)
        return score;
      if (!x[1].getType().isInteger(1))
        return arith::AddFOp::create(b, loc_, score, convertFloat(b, loc_, x[1], wide_)).getResult();
      auto type = cast<FloatType>(wide_);
      Value hidden =
          arith::ConstantFloatOp::create(b, loc_, type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
      return arith::SelectOp::create(b, loc_, x[1], score, hidden).getResult();
    });
  }

  /// One number for each row, over the other loops.
  template <typename Combine> Value reduce(Value logits, const Loops &loops, const Loops &rows, double start) {
    Value first = arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(wide_, start));
    Value init = linalg::FillOp::create(b_, loc_, first, empty(rows, wide_)).getResult(0);
    SmallVector<utils::IteratorType> types;
    for (unsigned loop : loops)
      types.push_back(rows.contains(loop) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    return linalg::GenericOp::create(b_, loc_, init.getType(), logits, init,
                                     ArrayRef<AffineMap>{mapOf(loops, loops), mapOf(rows, loops)}, types,
                                     [&](OpBuilder &b, Location, ValueRange x) {
                                       linalg::YieldOp::create(b, loc_,
                                                               Combine::create(b, loc_, x[0], x[1]).getResult());
                                     })
        .getResult(0);
  }

  /// Over all keys. Where a query sees none, all its weights are 0: -inf is subtracted as 0, and nothing divided by 0.
  Value softmax(Value logits, const Loops &loops, const Loops &keys) {
    Loops rows;
    for (unsigned loop : loops)
      if (!keys.contains(loop))
        rows.insert(loop);
    auto guarded = [&](OpBuilder &b, Value value, double from, double to) -> Value {
      Value bad = arith::ConstantOp::create(b, loc_, b.getFloatAttr(wide_, from));
      Value good = arith::ConstantOp::create(b, loc_, b.getFloatAttr(wide_, to));
      Value isBad = arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::OEQ, value, bad);
      return arith::SelectOp::create(b, loc_, isBad, good, value);
    };
    Value largest = reduce<arith::MaxNumFOp>(logits, loops, rows, -INFINITY);
    Value powers = each(loops, {{logits, loops}, {largest, rows}}, wide_, [&](OpBuilder &b, ValueRange x) -> Value {
      return math::ExpOp::create(b, loc_, arith::SubFOp::create(b, loc_, x[0], guarded(b, x[1], -INFINITY, 0)));
    });
    Value sums = reduce<arith::AddFOp>(powers, loops, rows, 0);
    return each(loops, {{powers, loops}, {sums, rows}}, wide_, [&](OpBuilder &b, ValueRange x) -> Value {
      return arith::DivFOp::create(b, loc_, x[0], guarded(b, x[1], 0, 1));
    });
  }

  linalg_ext::AttentionOp op_;
  OpBuilder &b_;
  Location loc_;
  Type wide_; // of sums, scores and weights
  llvm::DenseMap<unsigned, OpFoldResult> size_;
};

struct LowerAttention : OpRewritePattern<linalg_ext::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::AttentionOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Lowering(op, rewriter).run());
    return success();
  }
};

} // namespace

void addAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAttention>(patterns.getContext());
}

} // namespace tenon::compiler::input
