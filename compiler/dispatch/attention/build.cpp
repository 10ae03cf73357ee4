// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/build.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/forms/f8_factors.h"
#include "compiler/dispatch/attention/log_sum_exp.h"
#include "compiler/dispatch/attention/logits.h"
#include "compiler/dispatch/open_softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of so many rows, four tiles, f8 are widened once, before.
constexpr int64_t kManyRows = 512;

class Builder {
public:
  explicit Builder(const AttentionMatch &match)
      : match_(match), b_(linalg::GenericOp(match.output)), loc_(linalg::GenericOp(match.output).getLoc()),
        logits_(match, b_) {}

  void buildAttention(KeyRanges &ranges);
  linalg::GenericOp buildChain(int64_t number, KeyRanges &ranges);

private:
  bool hasManyRows();
  void approximateExponentials(linalg::GenericOp weights);
  SmallVector<unsigned> rowsOfLogits();
  SmallVector<Operation *> copyScores(linalg::GenericOp reader);
  linalg::GenericOp buildOutput(Value weights);
  void computeWeightsAgain(Value logSum);
  bool isBehind(Operation *op) const;

  const AttentionMatch &match_;
  OpBuilder b_;
  Location loc_;
  LogitsBuilder logits_;
};

linalg::GenericOp Builder::buildOutput(Value weights) {
  linalg::GenericOp before = match_.output;
  auto after = cast<linalg::GenericOp>(b_.clone(*before));
  OpOperand *operand = after.getDpsInputOperand(match_.weights);
  SmallVector<AffineExpr> read(match_.parallel.size() + 1);
  for (auto [loop, dimension] : logits_.dimensionOfLoop())
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
      rows.push_back(logits_.dimensionOfLoop().at(loop));
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
  Value logits = logits_.build();
  ranges.addTo(logits.getDefiningOp<linalg::GenericOp>(), rowsOfLogits(), /*isChain=*/false);
  if (match_.isShared)
    copyScores(logits.getDefiningOp<linalg::GenericOp>());
  Value empty = logits_.empty(getElementTypeOrSelf(logits.getType()));
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
    dimensions.push_back(logits_.dimensionOfLoop().at(cast<AffineDimExpr>(expr).getPosition()));
  AffineMap written = AffineMap::getMultiDimMapWithTargets(loops, dimensions, b_.getContext());
  const AffineMap whole = b_.getMultiDimIdentityMap(loops);
  Value logits;
  for (Value weights : match_.weightTensors) {
    auto isLater = [&](OpOperand &use) { return isBehind(use.getOwner()); };
    if (llvm::none_of(weights.getUses(), isLater))
      continue;
    if (!logits)
      logits = logits_.build();
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
  auto weights = logits_.build().getDefiningOp<linalg::GenericOp>();
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
