// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.attention and online_attention: the operations that they stand for. They become one kernel again
// (dispatch/attention), like those of programs that never had them.
#include "compiler/input/tensors/linalg_ext/attention_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::input {
namespace {

using Operand = AttentionBuilder::Operand;

/// Where a query sees no key, all its weights are 0: nothing is divided by 0.
struct LowerAttention : OpRewritePattern<linalg_ext::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::AttentionOp op, PatternRewriter &rewriter) const override {
    AttentionBuilder build(op, rewriter);
    const Operand scores = build.scores();
    const Operand powers = build.powers(scores, build.largest(scores));
    const Operand sum = build.sum(powers);
    const Operand weights =
        build.each(scores.loops, {powers, sum}, build.wide(), [&](OpBuilder &b, ValueRange x) -> Value {
          return arith::DivFOp::create(b, op.getLoc(), x[0], build.guarded(b, x[1], 0, 1));
        });
    rewriter.replaceOp(op, build.narrowed(build.sums(weights), 0));
    return success();
  }
};

/// Whether the tensor is the number everywhere, as far as is known.
bool isFilledWith(Value tensor, llvm::function_ref<bool(const APFloat &)> isIt) {
  APFloat number(0.0);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_ConstantFloat(&number)) && isIt(number);
  DenseFPElementsAttr all;
  return matchPattern(tensor, m_Constant(&all)) && all.isSplat() && isIt(all.getSplatValue<APFloat>());
}

/// The keys before have the largest scores, sums and weights that the outs hold; with weights of the new largest score,
/// theirs are exp(old largest - new largest) of what they were.
struct LowerOnlineAttention : OpRewritePattern<linalg_ext::OnlineAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::OnlineAttentionOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    AttentionBuilder build(op, rewriter);
    const Operand scores = build.scores();
    const Operand here = build.largest(scores);
    const unsigned first = op.getInputs().size();
    const Operand oldSums = {op.getOutputs()[0], build.loopsOf(first)},
                  oldLargest = {op.getOutputs()[1], build.loopsOf(first + 1)},
                  oldSum = {op.getOutputs()[2], build.loopsOf(first + 2)};
    auto wide = [&](OpBuilder &b, Value value) { return convertFloat(b, loc, value, build.wide()); };
    auto scaled = [&](OpBuilder &b, Value value, double factor) -> Value {
      return factor == 1 ? value : arith::MulFOp::create(b, loc, value, build.number(b, factor)).getResult();
    };
    const double perScore = usesPowersOfTwo(op) ? 1 / std::log(2.0) : 1.0; // of what the outs and results hold
    const Operand largest =
        build.each(here.loops, {here, oldLargest}, build.wide(), [&](OpBuilder &b, ValueRange x) -> Value {
          return arith::MaxNumFOp::create(b, loc, x[0], scaled(b, wide(b, x[1]), 1 / perScore));
        });
    const Operand result =
        build.each(here.loops, {here, oldLargest}, build.wide(), [&](OpBuilder &b, ValueRange x) -> Value {
          return arith::MaxNumFOp::create(b, loc, scaled(b, x[0], perScore), wide(b, x[1]));
        });
    const bool isFirst = beginsWithNothing(op);
    // The next keys go on from the result. Where it is narrower, what it was rounded to is what weights are of.
    auto taken = [&](const Operand &wideOne) {
      const Type narrow = getElementTypeOrSelf(op.getOutputs()[1].getType());
      if (narrow.getIntOrFloatBitWidth() >= build.wide().getIntOrFloatBitWidth())
        return wideOne;
      return build.each(result.loops, {result}, build.wide(), [&](OpBuilder &b, ValueRange x) -> Value {
        return scaled(b, wide(b, convertFloat(b, loc, x[0], narrow)), 1 / perScore);
      });
    };
    const Operand now = taken(isFirst ? here : largest);
    const Operand powers = build.powers(scores, now);
    const Operand sums = build.sums(powers), sum = build.sum(powers);
    auto goOn = [&](const Operand &sums, const Operand &old) {
      if (isFirst)
        return sums;
      return build.each(sums.loops, {sums, old, oldLargest, now}, build.wide(),
                        [&](OpBuilder &b, ValueRange x) -> Value {
                          Value before = scaled(b, wide(b, x[2]), 1 / perScore);
                          Value since = arith::SubFOp::create(b, loc, before, build.guarded(b, x[3], -INFINITY, 0));
                          Value factor = math::ExpOp::create(b, loc, since);
                          Value kept = arith::MulFOp::create(b, loc, wide(b, x[1]), factor);
                          return arith::AddFOp::create(b, loc, kept, x[0]);
                        });
    };
    rewriter.replaceOp(
        op, {build.narrowed(goOn(sums, oldSums), 0), build.narrowed(result, 1), build.narrowed(goOn(sum, oldSum), 2)});
    return success();
  }

private:
  static bool usesPowersOfTwo(linalg_ext::OnlineAttentionOp op) {
    auto config = op->getAttrOfType<DictionaryAttr>(linalg_ext::kDecompositionConfigAttr);
    auto uses = config ? config.getAs<BoolAttr>("use_exp2") : BoolAttr();
    return !uses || uses.getValue();
  }

  /// No keys before: sums of 0, and a largest score that no score is below.
  static bool beginsWithNothing(linalg_ext::OnlineAttentionOp op) {
    auto isZero = [](const APFloat &x) { return x.isZero(); };
    auto isLeast = [](const APFloat &x) { // a narrow type's lowest number is above some scores
      const bool isLowest = x.isLargest() && APFloat::semanticsSizeInBits(x.getSemantics()) >= 32;
      return x.isNegative() && (x.isInfinity() || isLowest);
    };
    return isFilledWith(op.getOutputs()[0], isZero) && isFilledWith(op.getOutputs()[1], isLeast) &&
           isFilledWith(op.getOutputs()[2], isZero);
  }
};

} // namespace

void addAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAttention, LowerOnlineAttention>(patterns.getContext());
}

} // namespace tenon::compiler::input
