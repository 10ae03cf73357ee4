// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/match.h"

#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/log_sum_exp.h"
#include "compiler/dispatch/attention/scores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// What a reduction over one loop adds up or compares, as a term of the anchor.
struct Reduced {
  Combiner combiner;
  Term contributed;
  Term start;
};

class Matcher {
public:
  Matcher(linalg::GenericOp output, std::string &reason) : reason_(reason) { found_.output = output; }

  std::optional<AttentionMatch> run(bool mustBeAlone) {
    const std::optional<Contraction> product = contractionOf(found_.output);
    if (!product)
      return std::nullopt;
    for (bool isLeft : {true, false}) {
      const ContractionSide &weights = isLeft ? product->left : product->right;
      terms_ = Terms();
      found_.isMaximumGuarded = false;
      if (matchWeights(weights, *product) && findScores(found_, terms_, *product, isLeft, /*most=*/1, reason_)) {
        findWeightTensors(weights);
        if (!mustBeAlone || isAlone())
          return found_;
      }
      if (!reason_.empty())
        return std::nullopt;
    }
    return std::nullopt;
  }

private:
  bool fail(const Twine &why) {
    if (reason_.empty())
      reason_ = why.str();
    return false;
  }

  std::optional<Reduced> reducedBy(const Term &term);
  bool matchWeights(const ContractionSide &weights, const Contraction &product);
  bool matchExponential(const Term &exponential, Term &logits);
  bool divisorIs(const Term &divisor, const Term &exponential);
  bool findDivisionBehind(const Term &exponential);
  void findWeightTensors(const ContractionSide &weights);
  bool knowMaximumAlone(const llvm::SmallPtrSetImpl<Operation *> &inside);
  bool isAlone();

  AttentionMatch found_;
  std::string &reason_;
  Terms terms_;
};

/// The loop over the keys is that of the reduction, wherever it stands there.
std::optional<Reduced> Matcher::reducedBy(const Term &given) {
  const Term term = terms_.withoutCasts(given);
  auto op = term.kind == Term::Kind::Element ? term.value.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() != 1 || !op.hasPureTensorSemantics())
    return std::nullopt;
  const auto accumulators = reductionBodyOf(op);
  if (!accumulators)
    return std::nullopt;
  SmallVector<AffineExpr> place(op.getNumLoops());
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [expr, index] : llvm::zip_equal(written.getResults(), term.place)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      place[dim.getPosition()] = index;
    else if (!isa<AffineConstantExpr>(expr))
      return std::nullopt;
  }
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  place[reduced.front()] = getAffineDimExpr(found_.keys, op.getContext());
  if (llvm::is_contained(place, AffineExpr()))
    return std::nullopt;
  terms_.visit(op);
  Value init = op.getDpsInits()[0];
  Term start{Term::Kind::Element, init, {}, {}};
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    start = {Term::Kind::Outside, fill.getInputs()[0], {}, {}};
  return Reduced{accumulators->front().combiner, terms_.of(accumulators->front().contributed, op, place), start};
}

/// exp(logits - max of the logits), or 2 to that power; the difference, or both sides of it, may be multiplied by a
/// constant, such as log2(e).
bool Matcher::matchExponential(const Term &exponential, Term &logits) {
  found_.factor = exponential.is<math::Exp2Op>() ? M_LN2 : 1;
  const Term difference = terms_.withoutFactor(terms_.operand(exponential, 0), found_.factor);
  if (!difference.is<arith::SubFOp>())
    return fail("its weights are exponentials from which no maximum is subtracted before: they may overflow, which a "
                "kernel of its own would hide");
  logits = terms_.withoutCasts(terms_.operand(difference, 0));
  const Term subtracted = terms_.withoutGuard(terms_.operand(difference, 1), -INFINITY, 0, found_.isMaximumGuarded);
  std::optional<Reduced> largest = reducedBy(subtracted);
  found_.largest = terms_.withoutCasts(subtracted);
  if (!largest) {
    double ofLogits = 1, ofLargest = 1;
    const Term inner = terms_.withoutFactor(logits, ofLogits);
    found_.largest = terms_.withoutFactor(subtracted, ofLargest);
    largest = ofLogits == ofLargest ? reducedBy(found_.largest) : std::nullopt;
    if (largest) {
      logits = inner;
      found_.factor *= ofLogits;
    }
  }
  if (!largest || (largest->combiner != Combiner::MaximumF && largest->combiner != Combiner::MaxNumF))
    return fail("what is subtracted before the exponential is no maximum over the keys");
  if (!terms_.areEqual(largest->contributed, logits))
    return fail("the maximum that is subtracted before the exponential is that of other numbers");
  // maxnum passes a NaN by.
  const bool passesNaN = largest->combiner == Combiner::MaxNumF;
  const bool startsLow = isConstant(largest->start, [&](const APFloat &start) {
    return (start.isNegative() && (start.isInfinity() || start.isLargest())) || (passesNaN && start.isNaN());
  });
  found_.startsFinite = isConstant(largest->start, [](const APFloat &start) { return start.isLargest(); });
  return startsLow || fail("the maximum over the keys starts from another number than the least there is");
}

bool Matcher::divisorIs(const Term &divisor, const Term &exponential) {
  bool isSumGuarded = false;
  found_.sum = terms_.withoutGuard(divisor, 0, 1, isSumGuarded);
  const std::optional<Reduced> sum = reducedBy(found_.sum);
  // exp(-inf) is 0 where what is subtracted is finite.
  found_.hiddenIsZero = (found_.isMaximumGuarded || found_.startsFinite) && isSumGuarded;
  return sum && sum->combiner == Combiner::AddF &&
         isConstant(sum->start, [](const APFloat &start) { return start.isZero(); }) &&
         terms_.areEqual(sum->contributed, exponential);
}

/// Every result of the last product is divided, where it is read, by the sum that belongs to it.
bool Matcher::findDivisionBehind(const Term &exponential) {
  if (!startsFromZero(found_.output))
    return fail("what divides by the sum of the exponentials over the keys divides the numbers that the last product "
                "adds to as well");
  Value result = found_.output->getResult(0);
  linalg::GenericOp reader;
  if (result.hasOneUse())
    reader = dyn_cast<linalg::GenericOp>(*result.getUsers().begin());
  if (!reader || reader.getNumReductionLoops() != 0)
    return fail("nothing divides by the sum of the exponentials over the keys");
  OpOperand *read = &*result.getUses().begin();
  AffineMap written = found_.output.getMatchingIndexingMap(found_.output.getDpsInitOperand(0));
  // The reader's loops as those of the anchor.
  SmallVector<AffineExpr> place(reader.getNumLoops());
  for (auto [here, there] : llvm::zip_equal(reader.getMatchingIndexingMap(read).getResults(), written.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(here))
      place[dim.getPosition()] = there;
  if (llvm::is_contained(place, AffineExpr()))
    return fail("nothing divides by the sum of the exponentials over the keys");
  Value sum = reader.getMatchingBlockArgument(read);
  while (sum.hasOneUse() && isa<arith::ExtFOp, arith::TruncFOp>(*sum.getUsers().begin()))
    sum = (*sum.getUsers().begin())->getResult(0);
  auto division = sum.hasOneUse() ? dyn_cast<arith::DivFOp>(*sum.getUsers().begin()) : arith::DivFOp();
  if (!division || division.getLhs() != sum || !divisorIs(terms_.of(division.getRhs(), reader, place), exponential))
    return fail("nothing divides by the sum of the exponentials over the keys");
  found_.divides = reader;
  found_.division = division;
  return true;
}

bool Matcher::matchWeights(const ContractionSide &weights, const Contraction &product) {
  const Term term = terms_.withoutCasts(terms_.of(weights.value, found_.output, loopsOf(found_.output)));
  found_.keys = product.reduced.front();
  Term exponential = term, divisor;
  if (term.is<arith::DivFOp>()) {
    exponential = terms_.withoutCasts(terms_.operand(term, 0));
    divisor = terms_.operand(term, 1);
  } else if (term.is<arith::MulFOp>()) {
    for (unsigned side : {0, 1}) {
      const Term inverse = terms_.withoutCasts(terms_.operand(term, side));
      if (inverse.is<arith::DivFOp>() &&
          isConstant(terms_.operand(inverse, 0), [](const APFloat &one) { return one.isExactlyValue(1.0); })) {
        exponential = terms_.withoutCasts(terms_.operand(term, 1 - side));
        divisor = terms_.operand(inverse, 1);
      }
    }
  }
  if (term.is<arith::BitcastOp>()) {
    const Term rounded = terms_.withoutCasts(terms_.operand(term, 0));
    if (rounded.is<arith::DivFOp>() || rounded.is<math::ExpOp>() || rounded.is<math::Exp2Op>())
      return fail("its weights are stored as bytes of f8: round them in the body of the product instead");
  }
  if (!exponential.is<math::ExpOp>() && !exponential.is<math::Exp2Op>())
    return false;
  if (product.reduced.size() != 1)
    return fail("keys are more than one dimension");
  if (weights.inputs.size() != 1)
    return fail("its weights are computed from several tensors in the product itself");
  found_.weights = weights.inputs.front();
  if (!matchExponential(exponential, found_.logits))
    return false;
  if (!divisor.value)
    return findDivisionBehind(exponential);
  return divisorIs(divisor, exponential) || fail("what its weights are divided by is not their sum over the keys");
}

/// The tensor that the last product reads, and what it is a cast of.
void Matcher::findWeightTensors(const ContractionSide &weights) {
  found_.weightTensors.clear();
  OpOperand *operand = found_.output.getDpsInputOperand(found_.weights);
  AffineMap read = found_.output.getMatchingIndexingMap(operand);
  if (found_.division || beforeExtension(weights.value) != found_.output.getMatchingBlockArgument(operand) ||
      !read.isProjectedPermutation())
    return;
  for (Value tensor = operand->get();;) {
    found_.weightTensors.push_back(tensor);
    auto cast = tensor.getDefiningOp<linalg::GenericOp>();
    if (!cast || cast.getNumDpsInputs() != 1 || cast->getNumResults() != 1 ||
        !llvm::all_equal(cast.getIndexingMapsArray()) ||
        !cast.getMatchingIndexingMap(cast.getDpsInputOperand(0)).isIdentity() ||
        !llvm::hasNItems(cast.getBody()->getOperations(), 2) ||
        !isa<arith::TruncFOp, arith::ExtFOp>(cast.getBody()->front()))
      return;
    tensor = cast.getDpsInputs()[0];
  }
}

/// Whether, but for the weights and the logarithm of their sum, nothing is read elsewhere that knows the maximum: it
/// has no place where it could be read. What reads the weights stands behind the last product.
bool Matcher::knowMaximumAlone(const llvm::SmallPtrSetImpl<Operation *> &inside) {
  llvm::SmallPtrSet<Operation *, 16> knows;
  SmallVector<Operation *> open = {found_.largest.value.getDefiningOp()};
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers())
      if (inside.contains(user) && user != found_.output && user != found_.divides && knows.insert(user).second)
        open.push_back(user);
  for (Operation *op : knows)
    for (Operation *user : op->getUsers()) {
      if (inside.contains(user) || llvm::any_of(found_.logSums, [&](const LogSum &sum) { return sum.op == op; }))
        continue;
      const bool isWeights = op->getNumResults() == 1 && llvm::is_contained(found_.weightTensors, op->getResult(0));
      if (!isWeights || user->getBlock() != op->getBlock() || !found_.output->isBeforeInBlock(user))
        return false;
    }
  return true;
}

/// What runs over queries and keys is read by nothing else: else it is stored anyway. Numbers of a row may be, by
/// those that compute the logarithm of the sum of its exponentials.
bool Matcher::isAlone() {
  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, terms_.visited());
  inside.insert(found_.output);
  if (found_.divides)
    inside.insert(found_.divides);
  if (!findLogSums(found_, inside, reason_))
    return false;
  llvm::SmallPtrSet<Operation *, 4> last = {found_.output, found_.divides};
  for (const LogSum &logSum : found_.logSums)
    last.insert(logSum.op);
  auto isReadElsewhere = [&](Operation *op) {
    for (Operation *user : op->getUsers()) {
      while (user && user->getBlock() != op->getBlock())
        user = user->getParentOp();
      if (!user || !inside.contains(user))
        return true;
    }
    return false;
  };
  // What knows the scores.
  llvm::SmallPtrSet<Operation *, 16> knows = {found_.scores.front()};
  SmallVector<Operation *> open = {found_.scores.front()};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (isReadElsewhere(op)) {
      // Gradients in the same function compute the scores again, as the attention does.
      found_.isShared = knowMaximumAlone(inside) && isReadByChains(found_.scores.front(), found_.output, inside);
      return found_.isShared || fail("its scores, or what is computed from them, are read by another operation too");
    }
    for (Operation *user : op->getUsers())
      if (!last.contains(user) && knows.insert(user).second)
        open.push_back(user);
  }
  return true;
}

} // namespace

std::optional<AttentionMatch> matchAttention(linalg::GenericOp output, std::string &reason, bool mustBeAlone) {
  return Matcher(output, reason).run(mustBeAlone);
}

} // namespace tenon::compiler::dispatch
