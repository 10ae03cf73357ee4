// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/attention_kernel.h"

#include "compiler/dispatch/attention/match.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<Attention> Attention::of(const KernelFunction &kernel, const GroupShape &shape) {
  if (!kernel.softmax)
    return std::nullopt;
  linalg::SoftmaxOp softmax = kernel.softmax;
  std::optional<Product> scores, output;
  const KernelOp *logits = nullptr;
  Value weights = softmax->getResult(0);
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    if (softmax.getInput().getDefiningOp() == generic.getOperation())
      logits = &op;
    if (generic.getNumReductionLoops() == 0)
      continue;
    const bool readsWeights = llvm::is_contained(generic.getDpsInputs(), weights);
    (readsWeights ? output : scores) = Product::ofOperation(kernel, shape, op);
  }
  if (!scores || !output || !logits)
    return std::nullopt;
  // Which factor knows the weights.
  const auto form = dispatch::productOf(output->op->op);
  auto reads = [&](const dispatch::ContractionSide &side) {
    return llvm::any_of(side.inputs, [&](unsigned input) { return output->op->inputs[input].computed == weights; });
  };
  // operandOf() has looked at the same sides in the same order.
  if (reads(form->right))
    output->exchangeSides();
  if (scores->rows != output->rows)
    scores->exchangeSides();
  // Weights are multiplied as they are, but for their type.
  Value factor = output->left.value;
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  if (!isa<BlockArgument>(factor))
    return std::nullopt;
  if (scores->rows != output->rows || scores->columns != output->reduced || output->reduced.size() != 1)
    return std::nullopt;
  return Attention{*scores, *output, logits, weights, softmax->hasAttr(dispatch::kHiddenIsZero)};
}

Type Attention::tensorCoreElement() const {
  Type element = scores.tensorCoreElement();
  return element && element == output.tensorCoreElement() ? element : Type();
}

AttentionTile tileOf(const AttentionKernel &kernel, Value number) {
  KernelBuilder &k = kernel.k;
  auto sizeOf = [&](ArrayRef<unsigned> axes) {
    Value size = k.number(1);
    for (unsigned axis : axes)
      size = k.mul(size, kernel.space.size(axis));
    return size;
  };
  auto partsOf = [&](Value size, uint32_t side) { return k.div(k.add(size, k.number(side - 1)), k.number(side)); };
  Value down = partsOf(sizeOf(kernel.attention.output.rows), kernel.rows),
        across = partsOf(sizeOf(kernel.attention.output.columns), kernel.columns);
  Value inBatch = k.rem(number, k.mul(down, across));
  Value row = k.sub(k.sub(down, k.number(1)), k.div(inBatch, across));
  return {k.div(number, k.mul(down, across)), k.mul(row, k.number(kernel.rows)),
          k.mul(k.rem(inBatch, across), k.number(kernel.columns))};
}

/// A sum in the type that the program gives it; one that starts from 0, as nearly all do, is it already.
static Value finished(const AttentionKernel &kernel, const Point &point, unsigned lane, Value total) {
  const RowSum &sum = kernel.attention.scores.sum;
  Value start = sum.op->outputs[sum.output].startScalar;
  if (start && sum.sum.element == sum.sum.type && matchPattern(start, m_PosZeroFloat()))
    return total;
  return kernel.bodies.finish(sum, point, lane, total);
}

void computeLogits(const AttentionKernel &kernel, TileSpace &space, MutableArrayRef<LogitRun> runs, bool mayEnd) {
  const Attention &attention = kernel.attention;
  KernelBuilder &k = kernel.k;
  const unsigned keysAxis = attention.output.reduced.front();
  const std::optional<int64_t> known = kernel.shape.axes[keysAxis].size;
  Value lastRow = k.sub(space.rows(), k.number(1)), keys = space.columns();
  for (LogitRun &run : runs) {
    // Pairs are read as pairs only where none of them is half there.
    const unsigned count = run.scores.size();
    const unsigned width = known && *known % count == 0 ? count : 1;
    for (unsigned first = 0; first < count; first += width) {
      Bodies::Scope scope(kernel.bodies);
      kernel.space.vectorAxis = keysAxis;
      kernel.bodies.setWidth(width, /*isAligned=*/false);
      Value key = k.add(run.key, k.number(first)), row = space.rowsAreWhole() ? run.row : k.min(run.row, lastRow);
      Value inside = mayEnd ? k.min(key, k.sub(keys, k.number(width))) : key;
      const Point point = space.resultAt(row, inside);
      SmallVector<Value> totals;
      for (unsigned lane = 0; lane < width; ++lane)
        totals.push_back(finished(kernel, point, lane, run.scores[first + lane]));
      kernel.bodies.setRow(attention.scores.sum, totals);
      for (unsigned lane = 0; lane < width; ++lane) {
        Value logit = attention.logits == attention.scores.op
                          ? totals[lane]
                          : kernel.bodies.element(*attention.logits, 0, point, lane);
        if (logit.getType() != attention.output.sum.sum.type && isa<FloatType>(logit.getType()) &&
            logit.getType().getIntOrFloatBitWidth() < 32)
          logit = arith::ExtFOp::create(k.b, k.loc, k.b.getF32Type(), logit);
        if (mayEnd) {
          auto type = cast<FloatType>(logit.getType());
          Value hidden = arith::ConstantFloatOp::create(k.b, k.loc, type,
                                                        APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
          logit = k.select(k.less(k.add(key, k.number(lane)), keys), logit, hidden);
        }
        run.scores[first + lane] = logit;
      }
    }
  }
}

} // namespace tenon::compiler::codegen
