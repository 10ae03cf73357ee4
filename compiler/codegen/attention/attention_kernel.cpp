// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/attention_kernel.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/open_softmax.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

/// Whether a result of the operation that computes weights depends on scores.
static bool dependsOn(linalg::GenericOp weights, unsigned result, const Product &product) {
  llvm::SetVector<Value> open;
  open.insert(weights.getBody()->getTerminator()->getOperand(result));
  for (size_t next = 0; next < open.size(); ++next) {
    Value value = open[next];
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == weights.getBody()) {
      if (weights.getMatchingOpOperand(argument)->get() == linalg::GenericOp(product.op->op)->getResult(0))
        return true;
    } else if (Operation *op = value.getDefiningOp(); op && weights->isProperAncestor(op)) {
      open.insert_range(op->getOperands());
    }
  }
  return false;
}

/// Which factor knows the weights; left is that of the weights.
static void orderSides(Product &output, ArrayRef<Value> weights) {
  const auto form = dispatch::productOf(output.op->op);
  auto reads = [&](const dispatch::ContractionSide &side) {
    return llvm::any_of(side.inputs,
                        [&](unsigned input) { return llvm::is_contained(weights, output.op->inputs[input].computed); });
  };
  // operandOf() has looked at the same sides in the same order.
  if (reads(form->right))
    output.exchangeSides();
}

/// A dimension of the batch may be one of the queries alone, or of the keys: the other side is the same for all of it.
static void takeBatchOf(Product &scores, const Product &output) {
  auto isOfBatch = [&](unsigned axis) { return llvm::is_contained(output.batch, axis); };
  for (SmallVector<unsigned> *axes : {&scores.rows, &scores.columns, &scores.left.across, &scores.right.across})
    llvm::erase_if(*axes, isOfBatch);
  scores.batch = output.batch;
}

/// Of some axes, that which logits are hidden by; else the longest.
static std::optional<unsigned> lastOf(ArrayRef<unsigned> axes, const Attention &attention, const GroupShape &shape,
                                      bool mustBeCompared) {
  linalg::GenericOp logits = attention.logits->op;
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(logits);
  std::optional<unsigned> last;
  for (unsigned axis : axes) {
    const bool isCompared = llvm::any_of(logits.getBody()->getOps<linalg::IndexOp>(), [&](linalg::IndexOp index) {
      return llvm::is_contained(shape.axes[axis].axes, groupAxes[index.getDim()]);
    });
    const int64_t size = shape.axes[axis].size.value_or(INT64_MAX);
    if ((isCompared || !mustBeCompared) && (!last || size > shape.axes[*last].size.value_or(INT64_MAX)))
      last = axis;
  }
  return last;
}

static void moveLast(SmallVector<unsigned> &axes, unsigned last) {
  auto *found = llvm::find(axes, last);
  if (found != axes.end())
    std::rotate(found, found + 1, axes.end());
}

/// Vectors of an operand go along the last of its axes. Another one may be last since they were looked for, or the one
/// that was may be of the batch: then neighbours along the last are none in memory, unless a tensor lies so.
static void findVectors(Operand &operand, const Product &product, const GroupShape &shape) {
  const unsigned reduced = product.reduced.back(), across = operand.across.empty() ? reduced : operand.across.back();
  if (operand.vectorAxis == (operand.isAlongReduced ? reduced : across))
    return;
  auto liesAlong = [&](const KernelTensor &tensor, const KernelOp &op, unsigned axis) {
    return shape.along(tensor, op.op, axis) == GroupShape::Along::Adjacent;
  };
  operand.isAlongReduced = across == reduced || llvm::none_of(operand.inputs, [&](const OperandInput &each) {
                             return liesAlong(each.input->tensor, *each.op, across);
                           });
  operand.vectorAxis = operand.isAlongReduced ? reduced : across;
  if (operand.plain && !liesAlong(operand.plain->tensor, *product.op, operand.vectorAxis))
    operand.plain = nullptr;
  operand.border = nullptr;
}

/// Rows are numbered along that of their axes last which logits are hidden by, however they lie in memory: rows of a
/// tile then are neighbours along it (hiding.h). Keys of several heads are numbered head by head.
static void orderAxes(Attention &attention, const GroupShape &shape) {
  const std::optional<unsigned> row = lastOf(attention.output.rows, attention, shape, /*mustBeCompared=*/true);
  std::optional<unsigned> key;
  for (bool mustBeCompared : {true, false})
    key = key ? key : lastOf(attention.output.reduced, attention, shape, mustBeCompared);
  SmallVector<Product *, 4> products = {&attention.scores, &attention.output};
  for (std::optional<Product> *each : {&attention.second, &attention.twin})
    if (*each)
      products.push_back(&**each);
  for (Product *product : products) {
    if (row)
      for (SmallVector<unsigned> *axes : {&product->rows, &product->left.across})
        moveLast(*axes, *row);
    if (key)
      for (SmallVector<unsigned> *axes : {&product->columns, &product->right.across, &product->reduced})
        moveLast(*axes, *key);
    for (Operand *operand : {&product->left, &product->right})
      findVectors(*operand, *product, shape);
  }
}

/// Whether weights are multiplied as they are, but for their type.
static bool isPlainFactor(const Product &output) {
  Value factor = output.left.value;
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return isa<BlockArgument>(factor);
}

std::optional<Attention> Attention::of(const KernelFunction &kernel, const GroupShape &shape) {
  linalg::SoftmaxOp softmax = kernel.softmax;
  linalg::GenericOp chained = shape.group.chained;
  if (!softmax && !chained)
    return std::nullopt;
  std::optional<Product> scores, second, across;
  const KernelOp *logits = nullptr, *logSum = nullptr, *kept = nullptr;
  const SmallVector<Value, 2> weights =
      softmax ? SmallVector<Value, 2>{softmax->getResult(0)} : llvm::to_vector<2>(ValueRange(chained->getResults()));
  SmallVector<std::optional<Product>, 2> outputs(weights.size());
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    if (generic == (softmax ? softmax.getInput().getDefiningOp() : chained.getOperation()))
      logits = &op;
    if (generic == shape.group.logSum)
      logSum = &op;
    if (generic == shape.group.across && generic.getNumReductionLoops() == 0)
      kept = &op;
    if (generic.getNumReductionLoops() == 0 || generic == shape.group.logSum)
      continue;
    const auto *read =
        llvm::find_if(weights, [&](Value each) { return llvm::is_contained(generic.getDpsInputs(), each); });
    std::optional<Product> product = Product::ofOperation(kernel, shape, op);
    if (!product)
      return std::nullopt;
    if (generic == shape.group.across)
      across = product;
    else if (read != weights.end())
      outputs[read - weights.begin()] = product;
    else
      (scores ? second : scores) = product;
  }
  if (!scores || !logits || !llvm::all_of(outputs, [](const auto &output) { return output.has_value(); }))
    return std::nullopt;
  const Product &output = *outputs.back();
  for (std::optional<Product> &each : outputs)
    llvm::sort(each->reduced); // as columns of the scores are
  for (std::optional<Product> &each : outputs) {
    orderSides(*each, weights);
    if (!isPlainFactor(*each) || each->reduced.empty() || each->reduced.size() > weights.size() ||
        each->reduced != output.reduced || each->rows != output.rows || each->columns != output.columns)
      return std::nullopt;
  }
  if (across) {
    orderSides(*across, weights);
    if (!isPlainFactor(*across))
      return std::nullopt;
  }
  for (std::optional<Product> *product : {&scores, &second}) {
    if (!*product)
      continue;
    takeBatchOf(**product, output);
    if ((*product)->rows != output.rows)
      (*product)->exchangeSides();
    if ((*product)->rows != output.rows || (*product)->columns != output.reduced)
      return std::nullopt;
  }
  if (outputs.size() == 2) {
    if (!second)
      return std::nullopt;
    if (dependsOn(chained, 0, *second))
      std::swap(scores, second);
    if (dependsOn(chained, 0, *second))
      return std::nullopt;
  }
  Attention attention{.scores = *scores,
                      .output = output,
                      .logits = logits,
                      .weights = weights.back(),
                      .isChain = !softmax,
                      .second = second,
                      .hiddenIsZero = softmax && softmax->hasAttr(dispatch::kHiddenIsZero),
                      .logSum = logSum,
                      .weightsResult = unsigned(weights.size() - 1),
                      .twin = outputs.size() == 2 ? outputs.front() : std::nullopt,
                      .across = across,
                      .kept = kept};
  orderAxes(attention, shape);
  return attention;
}

SmallVector<Attention, 2> Attention::parts() const {
  SmallVector<Attention, 2> all = {*this};
  all.front().twin = all.front().across = std::nullopt;
  all.front().isPart = twin.has_value();
  if (twin) {
    Attention &other = all.emplace_back(all.front());
    other.output = *twin;
    other.second = std::nullopt;
    other.kept = nullptr;
    other.weightsResult = 0;
    other.weights = linalg::GenericOp(logits->op)->getResult(0);
  }
  return all;
}

Type Attention::tensorCoreElement() const {
  Type element = output.tensorCoreElement();
  return llvm::all_of(inner(), [&](const Product *product) { return product->tensorCoreElement() == element; })
             ? element
             : Type();
}

SmallVector<const Product *, 2> Attention::inner() const {
  SmallVector<const Product *, 2> products = {&scores};
  if (second)
    products.push_back(&*second);
  return products;
}

AttentionTile tileOf(const AttentionKernel &kernel, Value number, bool isFromFirst) {
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
  Value row = k.div(inBatch, across);
  if (!isFromFirst)
    row = k.sub(k.sub(down, k.number(1)), row);
  return {k.div(number, k.mul(down, across)), k.mul(row, k.number(kernel.rows)),
          k.mul(k.rem(inBatch, across), k.number(kernel.columns))};
}

/// A sum in the type that the program gives it; one that starts from 0, as nearly all do, is it already.
static Value finished(const AttentionKernel &kernel, const RowSum &sum, const Point &point, unsigned lane,
                      Value total) {
  Value start = sum.op->outputs[sum.output].startScalar;
  if (start && sum.sum.element == sum.sum.type && matchPattern(start, m_PosZeroFloat()))
    return total;
  return kernel.bodies.finish(sum, point, lane, total);
}

void computeLogits(const AttentionKernel &kernel, TileSpace &space, MutableArrayRef<LogitRun> runs, bool mayEnd,
                   bool hides) {
  const Attention &attention = kernel.attention;
  KernelBuilder &k = kernel.k;
  const unsigned keysAxis = attention.keys();
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
      for (const Product *product : attention.inner()) {
        const SmallVector<Value> &scores = product == &attention.scores ? run.scores : run.seconds;
        totals.clear();
        for (unsigned lane = 0; lane < width; ++lane)
          totals.push_back(finished(kernel, product->sum, point, lane, scores[first + lane]));
        kernel.bodies.setRow(product->sum, totals);
      }
      // Of two weights, what the one takes is computed, and nothing else.
      linalg::GenericOp logits = attention.logits->op;
      std::optional<Lanes> ofTwins;
      if (logits->getNumResults() > 1)
        ofTwins = kernel.bodies.ofBody(*attention.logits,
                                       logits.getBody()->getTerminator()->getOperand(attention.weightsResult), point);
      for (unsigned lane = 0; lane < width; ++lane) {
        Value logit = ofTwins ? (*ofTwins)[lane]
                      : attention.logits == attention.scores.op
                          ? totals[lane]
                          : kernel.bodies.element(*attention.logits, 0, point, lane);
        if (logit.getType() != attention.output.sum.sum.type && isa<FloatType>(logit.getType()) &&
            logit.getType().getIntOrFloatBitWidth() < 32)
          logit = arith::ExtFOp::create(k.b, k.loc, k.b.getF32Type(), logit);
        if (mayEnd && hides) {
          auto type = cast<FloatType>(logit.getType());
          const APFloat least = attention.isChain ? APFloat::getZero(type.getFloatSemantics())
                                                  : APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true);
          Value hidden = arith::ConstantFloatOp::create(k.b, k.loc, type, least);
          logit = k.select(k.less(k.add(key, k.number(lane)), keys), logit, hidden);
        }
        run.scores[first + lane] = logit;
      }
    }
  }
}

void storeWeights(const AttentionKernel &kernel, TileSpace &space, ArrayRef<LogitRun> runs) {
  if (!kernel.attention.kept)
    return;
  const KernelTensor &kept = kernel.attention.kept->outputs.front().tensor;
  KernelBuilder &k = kernel.k;
  for (const LogitRun &run : runs)
    for (auto [lane, weight] : llvm::enumerate(run.scores)) {
      Value key = k.add(run.key, k.number(lane));
      k.when(k.both(k.less(run.row, space.rows()), k.less(key, space.columns())), [&, weight = weight] {
        Bodies::Scope scope(kernel.bodies);
        k.store(arith::TruncFOp::create(k.b, k.loc, kept.element, weight),
                kernel.bodies.address(*kernel.attention.kept, kept, space.resultAt(run.row, key)),
                dispatch::elementBytes(kept.element));
      });
    }
}

void storeLogSum(const AttentionKernel &kernel, TileSpace &result, Value row, Value reference, Value sum) {
  const KernelOp *op = kernel.attention.logSum;
  if (!op)
    return;
  KernelBuilder &k = kernel.k;
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(k.b, k.loc, k.b.getFloatAttr(sum.getType(), value));
  };
  // Blocks that compute other columns of the result compute the same.
  k.when(k.both(k.equal(result.firstColumn(), k.number(0)), k.less(row, result.rows())), [&] {
    Bodies::Scope scope(kernel.bodies);
    kernel.bodies.setWidth(1);
    const double hidden = op->op->getAttrOfType<FloatAttr>(dispatch::kLogSumExp).getValueAsDouble();
    // Of no keys at all nothing is NaN: no -inf is subtracted from another.
    Value ofHidden = k.select(k.equal(kernel.space.size(kernel.attention.keys()), k.number(0)),
                              constant(hidden == 0 ? 0 : -INFINITY), constant(hidden));
    Value logarithm = arith::AddFOp::create(k.b, k.loc, reference, math::LogOp::create(k.b, k.loc, sum));
    Value isHidden = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, sum, constant(0));
    kernel.bodies.setValue(op->op->getResult(0), k.select(isHidden, ofHidden, logarithm));
    kernel.bodies.storeRow(*op, result.resultAt(row, k.number(0)));
  });
}

} // namespace tenon::compiler::codegen
