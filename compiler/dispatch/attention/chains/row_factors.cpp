// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/row_factors.h"

#include "compiler/dispatch/analysis/groups/group.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of smaller or larger factors what is multiplied first might leave the range of f32, where the weight is in it.
constexpr double kLeastFactor = 0x1p-12, kMostFactor = 16;

std::optional<double> constantOf(Value value) {
  APFloat found(0.0F);
  if (!value.getType().isF32() || !matchPattern(value, m_ConstantFloat(&found)))
    return std::nullopt;
  return found.convertToDouble();
}

/// value * a constant of moderate size.
struct Scaled {
  Value value;
  double factor;
};

std::optional<Scaled> scaledOf(Value product) {
  auto op = product.getDefiningOp<arith::MulFOp>();
  if (!op)
    return std::nullopt;
  for (unsigned side : {0U, 1U})
    if (const std::optional<double> factor = constantOf(op.getOperand(side));
        factor && std::abs(*factor) >= kLeastFactor && std::abs(*factor) <= kMostFactor)
      return Scaled{op.getOperand(1 - side), *factor};
  return std::nullopt;
}

Value multiplied(OpBuilder &b, Location loc, Value value, double factor) {
  if (factor == 1)
    return value;
  Value by = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(factor)));
  return arith::MulFOp::create(b, loc, value, by);
}

/// The input that `value` is an element of, where rows or keys have one of it for all of the others.
std::optional<unsigned> rowInput(linalg::GenericOp weights, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != weights.getBody() || !value.getType().isF32() ||
      argument.getArgNumber() >= weights.getNumDpsInputs())
    return std::nullopt;
  const AffineMap map = weights.getIndexingMapsArray()[argument.getArgNumber()];
  if (!map.isProjectedPermutation() || map.getNumResults() >= weights.getNumLoops())
    return std::nullopt;
  return argument.getArgNumber();
}

void eraseDead(linalg::GenericOp weights) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*weights.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

bool rewriteExponent(linalg::GenericOp weights, math::Exp2Op op) {
  const std::optional<Scaled> exponent = scaledOf(op.getOperand());
  auto difference = exponent ? exponent->value.getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!difference || !rowInput(weights, difference.getRhs()))
    return false;
  Value logit = difference.getLhs();
  auto choice = logit.getDefiningOp<arith::SelectOp>();
  auto isLeast = [](Value value) {
    const std::optional<double> number = constantOf(value);
    return number && *number == -INFINITY;
  };
  unsigned hidden = 0;
  if (choice && (isLeast(choice.getTrueValue()) || isLeast(choice.getFalseValue()))) {
    if (!(exponent->factor > 0)) // -inf that hides is so, however often it is multiplied by more than 0
      return false;
    hidden = isLeast(choice.getTrueValue()) ? 1 : 2;
    logit = hidden == 1 ? choice.getFalseValue() : choice.getTrueValue();
  } else {
    choice = {};
  }
  const std::optional<Scaled> score = scaledOf(logit);
  Value factored = score ? score->value : logit;
  if (!isa<BlockArgument>(factored))
    return false;
  const double factor = exponent->factor * (score ? score->factor : 1);
  OpBuilder b(op);
  const Location loc = op.getLoc();
  Value scaled = multiplied(b, loc, factored, factor),
        reference = multiplied(b, loc, difference.getRhs(), exponent->factor);
  if (choice)
    scaled = arith::SelectOp::create(b, loc, choice.getCondition(), hidden == 1 ? choice.getTrueValue() : scaled,
                                     hidden == 1 ? scaled : choice.getFalseValue());
  op->setOperand(0, arith::SubFOp::create(b, loc, scaled, reference));
  return true;
}

/// (d - r) f, or p (d - r) f, in any order.
bool rewriteDifference(linalg::GenericOp weights, arith::MulFOp op) {
  const std::optional<Scaled> scaled = scaledOf(op);
  if (!scaled || std::abs(scaled->factor) > 1)
    return false;
  OpBuilder b(op);
  const Location loc = op.getLoc();
  /// (d - r) f of d - r, where it is that; else null.
  auto rewritten = [&](Value value) -> Value {
    auto difference = value.getDefiningOp<arith::SubFOp>();
    if (!difference || !rowInput(weights, difference.getRhs()) || !difference->hasOneUse() ||
        !isa<BlockArgument>(difference.getLhs()))
      return {};
    Value factored = multiplied(b, loc, difference.getLhs(), scaled->factor);
    return arith::SubFOp::create(b, loc, factored, multiplied(b, loc, difference.getRhs(), scaled->factor));
  };
  if (Value whole = rewritten(scaled->value)) {
    op.replaceAllUsesWith(whole);
    return true;
  }
  auto product = scaled->value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse())
    return false;
  for (unsigned side : {0U, 1U})
    if (Value factor = rewritten(product.getOperand(side))) {
      op.replaceAllUsesWith(arith::MulFOp::create(b, loc, product.getOperand(1 - side), factor).getResult());
      return true;
    }
  return false;
}

void rewrite(linalg::GenericOp weights) {
  for (auto op : llvm::to_vector(weights.getBody()->getOps<math::Exp2Op>()))
    rewriteExponent(weights, op);
  for (auto op : llvm::to_vector(weights.getBody()->getOps<arith::MulFOp>()))
    rewriteDifference(weights, op);
  eraseDead(weights);
}

/// What is summed up for each row, by a kernel of its own; null: something else.
linalg::GenericOp sumOf(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  const bool isSum = op && op.getNumReductionLoops() != 0 && op->getNumResults() == 1 && !op->hasAttr(kLogSumExp) &&
                     !op->hasAttr(kChainAttr);
  return isSum ? op : linalg::GenericOp();
}

/// A multiplication in weights of what a row has one of.
struct Use {
  linalg::GenericOp weights;
  arith::MulFOp op;
  unsigned input;
  double factor;

  Value tensor() const { return linalg::GenericOp(weights).getDpsInputs()[input]; }
};

SmallVector<Use> usesIn(ArrayRef<linalg::GenericOp> allWeights) {
  SmallVector<Use> uses;
  for (linalg::GenericOp weights : allWeights)
    for (auto op : weights.getBody()->getOps<arith::MulFOp>())
      if (const std::optional<Scaled> scaled = scaledOf(op))
        if (const std::optional<unsigned> input = rowInput(weights, scaled->value))
          uses.push_back({weights, op, *input, scaled->factor});
  return uses;
}

/// `tensor` instead of another input, at the same places.
void readInstead(linalg::GenericOp weights, unsigned input, Value tensor, Value of) {
  const AffineMap map = weights.getIndexingMapsArray()[input];
  for (auto [number, other] : llvm::enumerate(weights.getDpsInputs()))
    if (other == tensor && weights.getIndexingMapsArray()[number] == map)
      return of.replaceAllUsesWith(weights.getBody()->getArgument(number));
  SmallVector<AffineMap> maps = weights.getIndexingMapsArray();
  const unsigned inputs = weights.getNumDpsInputs();
  maps.insert(maps.begin() + inputs, map);
  weights.getInputsMutable().append(tensor);
  weights.setIndexingMapsAttr(OpBuilder(weights).getAffineMapArrayAttr(maps));
  of.replaceAllUsesWith(weights.getBody()->insertArgument(inputs, getElementTypeOrSelf(tensor), weights.getLoc()));
}

/// Inputs of rows that nobody reads any more.
void eraseUnread(linalg::GenericOp weights) {
  for (unsigned number = weights.getNumDpsInputs(); number-- > 0;) {
    SmallVector<AffineMap> maps = weights.getIndexingMapsArray();
    if (!weights.getBody()->getArgument(number).use_empty() || maps[number].getNumResults() == weights.getNumLoops())
      continue;
    maps.erase(maps.begin() + number);
    weights.getInputsMutable().erase(number);
    weights.setIndexingMapsAttr(OpBuilder(weights).getAffineMapArrayAttr(maps));
    weights.getBody()->eraseArgument(number);
  }
}

/// Whether the kernel of the sum can multiply what all of them multiply alike, in front of them. Some weights read
/// both; others that know the same are to stay the same.
bool isBehind(linalg::GenericOp sum, ArrayRef<Use> uses) {
  auto readsSum = [&](const Use &use) { return llvm::is_contained(use.weights->getOperands(), sum->getResult(0)); };
  Operation *source = uses.front().tensor().getDefiningOp();
  return uses.front().tensor().getType() == sum->getResult(0).getType() && llvm::any_of(uses, readsSum) &&
         (!source || (source->getBlock() == sum->getBlock() && !sum->isBeforeInBlock(source))) &&
         llvm::all_of(uses, [&](const Use &use) {
           return use.weights->getBlock() == sum->getBlock() && sum->isBeforeInBlock(use.weights);
         });
}

/// The kernel of the sum multiplies it, and another tensor of rows, once for all weights.
void multiplyBySum(linalg::GenericOp sum, ArrayRef<linalg::GenericOp> allWeights) {
  Value tensor = sum->getResult(0);
  llvm::MapVector<std::pair<Value, int64_t>, SmallVector<Use>> alike; // by what is multiplied, by the factor
  for (const Use &use : usesIn(allWeights))
    alike[{use.tensor(), llvm::bit_cast<int64_t>(use.factor)}].push_back(use);
  SmallVector<std::pair<Value, double>> made; // the sum first
  SmallVector<Use> taken;
  for (bool isSum : {true, false}) {
    for (auto &[key, uses] : alike)
      if (made.size() < (isSum ? 1 : 2) && (key.first == tensor) == isSum && (isSum || !sumOf(key.first)) &&
          isBehind(sum, uses)) {
        made.emplace_back(key.first, uses.front().factor);
        llvm::append_range(taken, uses);
      }
    if (made.empty())
      made.emplace_back(tensor, 1);
  }
  if (taken.empty())
    return;
  OpBuilder b(sum);
  b.setInsertionPointAfter(sum);
  const Location loc = sum.getLoc();
  SmallVector<Value> inputs, starts;
  for (auto [input, factor] : made) {
    inputs.push_back(input);
    starts.push_back(tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), b.getF32Type()));
  }
  const auto rank = unsigned(cast<RankedTensorType>(tensor.getType()).getRank());
  auto scaled = linalg::GenericOp::create(b, loc, TypeRange(ValueRange(starts)), inputs, starts,
                                          SmallVector<AffineMap>(2 * made.size(), b.getMultiDimIdentityMap(rank)),
                                          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                                          [&](OpBuilder &inside, Location at, ValueRange values) {
                                            SmallVector<Value> results;
                                            for (auto [value, each] : llvm::zip(values, made))
                                              results.push_back(multiplied(inside, at, value, each.second));
                                            linalg::YieldOp::create(inside, at, results);
                                          });
  scaled->setAttr(kStoredAttr, b.getUnitAttr()); // not for each weight anew
  for (Use &use : taken)
    for (auto [number, each] : llvm::enumerate(made))
      if (each == std::pair(use.tensor(), use.factor))
        readInstead(use.weights, use.input, scaled->getResult(number), use.op);
  // Weights read what one kernel makes of it.
  if (made.front().second == 1)
    tensor.replaceUsesWithIf(scaled->getResult(0), [&](OpOperand &use) {
      return llvm::any_of(taken, [&](const Use &each) { return each.weights == use.getOwner(); });
    });
}

} // namespace

void multiplyRowsFirst(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    SmallVector<linalg::GenericOp> allWeights;
    for (auto op : block.getOps<linalg::GenericOp>())
      if (op->hasAttr(kChainAttr) && op.getNumReductionLoops() == 0)
        allWeights.push_back(op);
    llvm::SmallSetVector<Operation *, 2> sums;
    for (linalg::GenericOp weights : allWeights) {
      rewrite(weights);
      for (Value input : weights.getDpsInputs())
        if (linalg::GenericOp sum = sumOf(input))
          sums.insert(sum);
    }
    for (Operation *sum : sums)
      multiplyBySum(cast<linalg::GenericOp>(sum), allWeights);
    for (linalg::GenericOp weights : allWeights) {
      eraseDead(weights);
      eraseUnread(weights);
    }
  }
}

} // namespace tenon::compiler::dispatch
