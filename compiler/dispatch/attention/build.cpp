// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/build.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/forms/f8_factors.h"
#include "compiler/dispatch/attention/log_sum_exp.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Operations of a body that are computed again for each logit, rather than stored and read.
constexpr unsigned kMostCheap = 12;
// Of so many rows, four tiles, f8 are widened once, before.
constexpr int64_t kManyRows = 512;

class Builder {
public:
  explicit Builder(const AttentionMatch &match)
      : match_(match), b_(linalg::GenericOp(match.output)), loc_(linalg::GenericOp(match.output).getLoc()),
        terms_([this](linalg::GenericOp op) { return isPartOfLogits(op); }) {
    for (auto [dimension, loop] : llvm::enumerate(match.parallel))
      dimensionOfLoop_[loop] = dimension;
    dimensionOfLoop_[match.keys] = match.parallel.size();
  }

  void buildAttention(KeyRanges &ranges);
  linalg::GenericOp buildChain(int64_t number, KeyRanges &ranges);

private:
  bool knowsScores(Operation *op);
  bool hasNarrowFactors();
  bool hasManyRows();
  bool isPartOfLogits(linalg::GenericOp op);
  Value sizeOf(unsigned loop);
  Value emptyLogits(Type element);
  void collectInputs(const Term &term);
  AffineExpr here(AffineExpr anchor) const;
  AffineMap mapOf(const Term &element) const;
  Value emit(const Term &term, OpBuilder &b, ValueRange arguments);
  Value multiplied(OpBuilder &b, Value value, double factor);
  void approximateExponentials(linalg::GenericOp weights);
  Value buildLogits();
  SmallVector<unsigned> rowsOfLogits();
  SmallVector<Operation *> copyScores(linalg::GenericOp reader);
  linalg::GenericOp buildOutput(Value weights);
  void computeWeightsAgain(Value logSum);
  bool isBehind(Operation *op) const;

  using Key = std::pair<const void *, std::vector<const void *>>;
  static Key keyOf(const Term &term);

  const AttentionMatch &match_;
  OpBuilder b_;
  Location loc_;
  Terms terms_;
  llvm::DenseMap<Operation *, bool> knows_;
  llvm::DenseMap<unsigned, unsigned> dimensionOfLoop_; // loop of the anchor -> dimension of the logits
  SmallVector<Term> inputs_;
  std::map<Key, unsigned> inputOf_;
  std::map<Key, Value> emitted_;
};

Builder::Key Builder::keyOf(const Term &term) {
  Key key{term.value.getAsOpaquePointer(), {}};
  for (AffineExpr expr : term.place)
    key.second.push_back(expr.getAsOpaquePointer());
  return key;
}

/// Whether scores are products of numbers of 16 bits or fewer.
bool Builder::hasNarrowFactors() {
  linalg::GenericOp scores = match_.scores.front();
  return llvm::all_of(scores.getDpsInputs(), [](Value factor) {
    return getElementTypeOrSelf(factor.getType()).getIntOrFloatBitWidth() <= 16;
  });
}

bool Builder::knowsScores(Operation *op) {
  if (!op)
    return false;
  if (llvm::is_contained(match_.scores, op))
    return true;
  if (auto known = knows_.find(op); known != knows_.end())
    return known->second;
  const bool knows =
      llvm::any_of(op->getOperands(), [&](Value operand) { return knowsScores(operand.getDefiningOp()); });
  return knows_[op] = knows;
}

/// What is computed from the scores, and what is cheap: comparisons of indices, casts. A bias that takes more is
/// computed before.
bool Builder::isPartOfLogits(linalg::GenericOp op) {
  if (knowsScores(op))
    return true;
  unsigned work = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(inner))
      return false;
    ++work;
  }
  return work <= kMostCheap;
}

Value Builder::sizeOf(unsigned loop) {
  linalg::GenericOp op = match_.output;
  Value size;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop)
        if (!size || (!type.isDynamicDim(dimension) && !size.getDefiningOp<arith::ConstantOp>()))
          size = dimensionOf(b_, loc_, operand.get(), dimension);
  }
  return size;
}

Value Builder::emptyLogits(Type element) {
  SmallVector<OpFoldResult> sizes(match_.parallel.size() + 1);
  for (auto [loop, dimension] : dimensionOfLoop_)
    sizes[dimension] = getAsOpFoldResult(sizeOf(loop));
  return tensor::EmptyOp::create(b_, loc_, sizes, element);
}

AffineExpr Builder::here(AffineExpr anchor) const {
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0, loops = linalg::GenericOp(match_.output).getNumLoops(); loop < loops; ++loop) {
    auto dimension = dimensionOfLoop_.find(loop);
    dims.push_back(dimension == dimensionOfLoop_.end() ? getAffineConstantExpr(0, b_.getContext())
                                                       : getAffineDimExpr(dimension->second, b_.getContext()));
  }
  return anchor.replaceDims(dims);
}

AffineMap Builder::mapOf(const Term &element) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : element.place)
    results.push_back(here(expr));
  return AffineMap::get(match_.parallel.size() + 1, 0, results, b_.getContext());
}

void Builder::collectInputs(const Term &term) {
  if (term.kind == Term::Kind::Element && !splatOf(term.value)) {
    if (inputOf_.insert({keyOf(term), inputs_.size()}).second)
      inputs_.push_back(term);
    return;
  }
  if (term.kind != Term::Kind::Computed || !emitted_.insert({keyOf(term), Value()}).second)
    return;
  for (unsigned i = 0; i < term.operation()->getNumOperands(); ++i)
    collectInputs(terms_.operand(term, i));
}

Value Builder::emit(const Term &term, OpBuilder &b, ValueRange arguments) {
  if (term.kind == Term::Kind::Outside)
    return term.value;
  Value &known = emitted_[keyOf(term)];
  if (known)
    return known;
  if (term.kind == Term::Kind::Element) {
    if (TypedAttr splat = splatOf(term.value))
      return known = arith::ConstantOp::create(b, loc_, splat);
    return known = arguments[inputOf_.at(keyOf(term))];
  }
  Operation *op = term.operation();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    AffineExpr place = here(term.place[index.getDim()]);
    if (auto dim = dyn_cast<AffineDimExpr>(place))
      return known = linalg::IndexOp::create(b, loc_, dim.getPosition());
    SmallVector<Value> dims;
    for (unsigned dimension = 0; dimension <= match_.parallel.size(); ++dimension)
      dims.push_back(linalg::IndexOp::create(b, loc_, dimension));
    return known = affine::AffineApplyOp::create(b, loc_, AffineMap::get(dims.size(), 0, place), dims);
  }
  IRMapping operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.map(op->getOperand(i), emit(terms_.operand(term, i), b, arguments));
  Operation *copy = b.clone(*op, operands);
  // A division by a constant is a dozen instructions and a branch, for a bit that products of f16 and bf16 do not have.
  if (auto division = dyn_cast<arith::DivFOp>(copy); division && hasNarrowFactors())
    division.setFastmath(division.getFastmath() | arith::FastMathFlags::arcp);
  return emitted_[keyOf(term)] = copy->getResult(cast<OpResult>(term.value).getResultNumber());
}

/// A logit times a constant, which goes where the logit is multiplied anyway: whoever reads the body sees the choices
/// that hide keys, and one scale, as if the program had written the exponential without the constant.
Value Builder::multiplied(OpBuilder &b, Value value, double factor) {
  auto type = cast<FloatType>(value.getType());
  auto constantOf = [&](double number) -> Value {
    return arith::ConstantOp::create(b, loc_, b.getFloatAttr(type, number));
  };
  auto valueOf = [](Value constant) -> std::optional<double> {
    FloatAttr attribute;
    return matchPattern(constant, m_Constant(&attribute)) ? std::optional(attribute.getValueAsDouble()) : std::nullopt;
  };
  if (std::optional<double> constant = valueOf(value)) {
    // A finite number hides keys in another way than -inf.
    const double largest = APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    const double product = *constant * factor;
    return constantOf(std::isfinite(*constant) ? std::clamp(product, -largest, largest) : product);
  }
  if (auto choice = value.getDefiningOp<arith::SelectOp>())
    return arith::SelectOp::create(b, loc_, choice.getCondition(), multiplied(b, choice.getTrueValue(), factor),
                                   multiplied(b, choice.getFalseValue(), factor));
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    for (unsigned side : {0, 1})
      if (std::optional<double> constant = valueOf(product->getOperand(side)))
        return arith::MulFOp::create(b, loc_, product->getOperand(1 - side), constantOf(*constant * factor));
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return arith::AddFOp::create(b, loc_, multiplied(b, sum.getLhs(), factor), multiplied(b, sum.getRhs(), factor));
  return arith::MulFOp::create(b, loc_, value, constantOf(factor));
}

/// The logits in the type that softmax is computed in: f32, or f64.
Value Builder::buildLogits() {
  // Terms of the match went through everything; these go through what is part of the logits.
  const Term logits = match_.logits.kind == Term::Kind::Computed
                          ? terms_.of(match_.logits.value, match_.logits.op, match_.logits.place)
                          : match_.logits;
  collectInputs(logits);
  emitted_.clear();
  Type element = getElementTypeOrSelf(logits.value.getType());
  Type wide = element.isF64() ? element : Type(b_.getF32Type());
  Value empty = emptyLogits(wide);
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const Term &input : inputs_) {
    tensors.push_back(input.value);
    maps.push_back(mapOf(input));
  }
  const unsigned loops = match_.parallel.size() + 1;
  maps.push_back(b_.getMultiDimIdentityMap(loops));
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b_, loc_, empty.getType(), tensors, empty, maps, types,
                                   [&](OpBuilder &b, Location, ValueRange arguments) {
                                     Value value = emit(logits, b, arguments);
                                     if (element != wide)
                                       value = arith::ExtFOp::create(b, loc_, wide, value);
                                     if (match_.factor != 1)
                                       value = multiplied(b, value, match_.factor);
                                     linalg::YieldOp::create(b, loc_, value);
                                   })
      .getResult(0);
}

linalg::GenericOp Builder::buildOutput(Value weights) {
  linalg::GenericOp before = match_.output;
  auto after = cast<linalg::GenericOp>(b_.clone(*before));
  OpOperand *operand = after.getDpsInputOperand(match_.weights);
  SmallVector<AffineExpr> read(match_.parallel.size() + 1);
  for (auto [loop, dimension] : dimensionOfLoop_)
    read[dimension] = getAffineDimExpr(loop, b_.getContext());
  SmallVector<Attribute> maps = llvm::to_vector(after.getIndexingMaps());
  maps[match_.weights] = AffineMapAttr::get(AffineMap::get(after.getNumLoops(), 0, read, b_.getContext()));
  after.setIndexingMapsAttr(b_.getArrayAttr(maps));
  operand->set(weights);
  // In the type in which the program multiplies them.
  BlockArgument argument = after.getMatchingBlockArgument(operand);
  Type type = argument.getType(), given = getElementTypeOrSelf(weights.getType());
  if (type != given) {
    argument.setType(given);
    OpBuilder inside = OpBuilder::atBlockBegin(after.getBody());
    const bool isNarrower = type.getIntOrFloatBitWidth() < given.getIntOrFloatBitWidth();
    Value cast = isNarrower ? arith::TruncFOp::create(inside, loc_, type, argument).getResult()
                            : arith::ExtFOp::create(inside, loc_, type, argument).getResult();
    argument.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }
  before->replaceAllUsesWith(after->getResults());
  if (match_.division) {
    match_.division->getResult(0).replaceAllUsesWith(match_.division->getOperand(0));
    match_.division->erase();
  }
  return after;
}

/// Products that only `reader` reads, instead of those that it shares with others.
SmallVector<Operation *> Builder::copyScores(linalg::GenericOp reader) {
  OpBuilder before(reader);
  SmallVector<Operation *> copies;
  for (linalg::GenericOp scores : match_.scores) {
    copies.push_back(before.clone(*scores));
    reader->replaceUsesOfWith(scores->getResult(0), copies.back()->getResult(0));
  }
  return copies;
}

/// Loops of the logits over rows.
SmallVector<unsigned> Builder::rowsOfLogits() {
  const std::optional<Contraction> product = contractionOf(match_.output);
  SmallVector<unsigned> rows;
  for (unsigned loop : match_.parallel)
    if (product && !llvm::is_contained(product->batch, loop))
      rows.push_back(dimensionOfLoop_.at(loop));
  return rows;
}

/// Whether several tiles read the keys and the values of an element of the batch.
bool Builder::hasManyRows() {
  const std::optional<Contraction> product = contractionOf(match_.output);
  SmallVector<unsigned> rows;
  for (unsigned loop : match_.parallel)
    if (product && !llvm::is_contained(product->batch, loop))
      rows.push_back(loop);
  return knownSizeOf(match_.output, rows).value_or(0) >= kManyRows;
}

void Builder::buildAttention(KeyRanges &ranges) {
  const bool areStored = hasManyRows();
  for (linalg::GenericOp scores : match_.scores) {
    widenFactors(scores);
    if (areStored)
      storeWidened(scores);
  }
  Value logits = buildLogits();
  ranges.addTo(logits.getDefiningOp<linalg::GenericOp>(), rowsOfLogits(), /*isChain=*/false);
  if (match_.isShared)
    copyScores(logits.getDefiningOp<linalg::GenericOp>());
  Value empty = emptyLogits(getElementTypeOrSelf(logits.getType()));
  auto softmax = linalg::SoftmaxOp::create(b_, loc_, TypeRange(empty), logits, empty, uint64_t(match_.parallel.size()));
  if (match_.hiddenIsZero)
    softmax->setAttr(kHiddenIsZero, b_.getUnitAttr());
  linalg::GenericOp output = buildOutput(softmax.getResult()[0]);
  widenWeighted(output, match_.weights);
  if (areStored)
    storeWidened(output);
  const bool areWeightsRead = match_.isShared && llvm::any_of(match_.weightTensors, [](Value weights) {
                                return !weights.use_empty(); // by the product that was there, at least
                              });
  if (match_.logSums.empty() && !areWeightsRead)
    return;
  linalg::GenericOp logSum = buildLogSums(match_, logits, b_);
  if (areWeightsRead)
    computeWeightsAgain(logSum->getResult(0));
}

/// Who reads the weights behind the attention computes them from scores: exp(logits - logarithm of the sum).
void Builder::computeWeightsAgain(Value logSum) {
  linalg::GenericOp output = match_.output;
  const unsigned loops = match_.parallel.size() + 1;
  SmallVector<unsigned> dimensions; // of the logits, for each of the weights
  for (AffineExpr expr : output.getMatchingIndexingMap(output.getDpsInputOperand(match_.weights)).getResults())
    dimensions.push_back(dimensionOfLoop_.at(cast<AffineDimExpr>(expr).getPosition()));
  AffineMap written = AffineMap::getMultiDimMapWithTargets(loops, dimensions, b_.getContext());
  const AffineMap whole = b_.getMultiDimIdentityMap(loops);
  Value logits;
  for (Value weights : match_.weightTensors) {
    auto isLater = [&](OpOperand &use) { return isBehind(use.getOwner()); };
    if (llvm::none_of(weights.getUses(), isLater))
      continue;
    if (!logits)
      logits = buildLogits();
    auto type = cast<RankedTensorType>(weights.getType());
    auto given = cast<FloatType>(getElementTypeOrSelf(logits.getType()));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b_, loc_, logits), turned;
    for (unsigned dimension : dimensions)
      turned.push_back(sizes[dimension]);
    Value empty = tensor::EmptyOp::create(b_, loc_, turned, type.getElementType());
    SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
    auto again = linalg::GenericOp::create(
        b_, loc_, empty.getType(), ValueRange{logits, logSum}, empty, {whole, whole.dropResult(loops - 1), written},
        types, [&](OpBuilder &b, Location, ValueRange arguments) {
          Value reference = arguments[1];
          if (match_.hiddenIsZero) { // 0, not exp(-inf + inf)
            Value least = arith::ConstantOp::create(b, loc_, b.getFloatAttr(given, -INFINITY));
            Value zero = arith::ConstantOp::create(b, loc_, b.getFloatAttr(given, 0));
            Value isHidden = arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::OEQ, reference, least);
            reference = arith::SelectOp::create(b, loc_, isHidden, zero, reference);
          }
          Value weight =
              math::ExpOp::create(b, loc_, arith::SubFOp::create(b, loc_, arguments[0], reference).getResult());
          Type wanted = type.getElementType();
          if (wanted.getIntOrFloatBitWidth() < given.getIntOrFloatBitWidth())
            weight = arith::TruncFOp::create(b, loc_, wanted, weight);
          else if (wanted != given)
            weight = arith::ExtFOp::create(b, loc_, wanted, weight);
          linalg::YieldOp::create(b, loc_, weight);
        });
    Value cast = again->getResult(0);
    if (cast.getType() != type)
      cast = tensor::CastOp::create(b_, loc_, type, cast);
    weights.replaceUsesWithIf(cast, isLater);
  }
}

/// Whether it stands behind the last product, which is where the new one is.
bool Builder::isBehind(Operation *op) const {
  linalg::GenericOp output = match_.output;
  Operation *top = output->getBlock()->findAncestorOpInBlock(*op);
  return top && output->isBeforeInBlock(top);
}

/// Weights that are multiplied as f16 or bf16 have no use for an exponential that is exact: powers of two by the
/// hardware, good to about 2 units of the last place of f32, as those of softmax are.
void Builder::approximateExponentials(linalg::GenericOp weights) {
  for (auto op : llvm::to_vector(weights.getBody()->getOps<math::ExpOp>())) {
    if (!op.getType().isF32())
      continue;
    OpBuilder b(op);
    Value log2e = arith::ConstantOp::create(b, loc_, b.getF32FloatAttr(M_LOG2E));
    Value exponent = arith::MulFOp::create(b, loc_, op.getOperand(), log2e);
    Value power = math::Exp2Op::create(b, loc_, exponent, arith::FastMathFlags::afn);
    op->replaceAllUsesWith(ValueRange(power));
    op->erase();
  }
}

/// Products are computed for each chain that reads them: each has its own.
linalg::GenericOp Builder::buildChain(int64_t number, KeyRanges &ranges) {
  const IntegerAttr mark = b_.getI64IntegerAttr(number);
  auto weights = buildLogits().getDefiningOp<linalg::GenericOp>();
  approximateExponentials(weights);
  ranges.addTo(weights, rowsOfLogits(), /*isChain=*/true);
  for (Operation *copy : copyScores(weights))
    copy->setAttr(kChainAttr, mark);
  weights->setAttr(kChainAttr, mark);
  linalg::GenericOp output = buildOutput(weights->getResult(0));
  output->setAttr(kChainAttr, mark);
  return output;
}

} // namespace

void buildAttention(const AttentionMatch &match, KeyRanges &ranges) {
  Builder(match).buildAttention(ranges);
}

linalg::GenericOp buildChain(const AttentionMatch &match, int64_t number, KeyRanges &ranges) {
  return Builder(match).buildChain(number, ranges);
}

} // namespace tenon::compiler::dispatch
