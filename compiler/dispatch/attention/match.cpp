// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/match.h"

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

  std::optional<AttentionMatch> run() {
    const std::optional<Contraction> product = contractionOf(found_.output);
    if (!product)
      return std::nullopt;
    for (bool isLeft : {true, false}) {
      const ContractionSide &weights = isLeft ? product->left : product->right;
      terms_ = Terms();
      isMaximumGuarded_ = false;
      if (matchWeights(weights, *product) && findScores(found_, terms_, *product, isLeft, /*most=*/1, reason_) &&
          isAlone())
        return found_;
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
  Term withoutFactor(Term term, double &factor);
  bool matchExponential(const Term &exponential, Term &logits);
  Term withoutGuard(Term term, double guarded, double instead, bool &isGuarded);
  bool divisorIs(const Term &divisor, const Term &exponential);
  bool findDivisionBehind(const Term &exponential);
  bool isAlone();

  AttentionMatch found_;
  bool isMaximumGuarded_ = false; // -inf is subtracted as 0
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

/// The same without constants above 0 that it is multiplied by, or without the last of them where it is a product of a
/// maximum or of logits.
Term Matcher::withoutFactor(Term term, double &factor) {
  term = terms_.withoutCasts(term);
  for (unsigned side : {0, 1}) {
    if (!term.is<arith::MulFOp>())
      break;
    double constant = 0;
    const bool isFactor = isConstant(terms_.withoutCasts(terms_.operand(term, side)), [&](const APFloat &value) {
      APFloat wide = value;
      bool losesInfo = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      constant = wide.convertToDouble();
      return constant > 0 && std::isfinite(constant);
    });
    if (isFactor) {
      factor *= constant;
      return terms_.withoutCasts(terms_.operand(term, 1 - side));
    }
  }
  return term;
}

/// x of select(x == guarded, instead, x); else the term itself.
Term Matcher::withoutGuard(Term term, double guarded, double instead, bool &isGuarded) {
  term = terms_.withoutCasts(term);
  if (!term.is<arith::SelectOp>())
    return term;
  auto is = [&](const Term &constant, double wanted) {
    return isConstant(terms_.withoutCasts(constant), [&](const APFloat &value) {
      return std::isinf(wanted) ? value.isInfinity() && value.isNegative() == (wanted < 0)
                                : value.isExactlyValue(wanted);
    });
  };
  const Term condition = terms_.operand(term, 0), other = terms_.operand(term, 2);
  auto compare = dyn_cast_or_null<arith::CmpFOp>(condition.operation());
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ || !is(terms_.operand(condition, 1), guarded) ||
      !is(terms_.operand(term, 1), instead) || !terms_.areEqual(terms_.operand(condition, 0), other))
    return term;
  isGuarded = true;
  return terms_.withoutCasts(other);
}

/// exp(logits - max of the logits), or 2 to that power; the difference, or both sides of it, may be multiplied by a
/// constant, such as log2(e).
bool Matcher::matchExponential(const Term &exponential, Term &logits) {
  found_.factor = exponential.is<math::Exp2Op>() ? M_LN2 : 1;
  const Term difference = withoutFactor(terms_.operand(exponential, 0), found_.factor);
  if (!difference.is<arith::SubFOp>())
    return fail("its weights are exponentials from which no maximum is subtracted before: they may overflow, which a "
                "kernel of its own would hide");
  logits = terms_.withoutCasts(terms_.operand(difference, 0));
  const Term subtracted = withoutGuard(terms_.operand(difference, 1), -INFINITY, 0, isMaximumGuarded_);
  std::optional<Reduced> largest = reducedBy(subtracted);
  if (!largest) {
    double ofLogits = 1, ofLargest = 1;
    const Term inner = withoutFactor(logits, ofLogits), innerLargest = withoutFactor(subtracted, ofLargest);
    largest = ofLogits == ofLargest ? reducedBy(innerLargest) : std::nullopt;
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
  return startsLow || fail("the maximum over the keys starts from another number than the least there is");
}

bool Matcher::divisorIs(const Term &divisor, const Term &exponential) {
  bool isSumGuarded = false;
  const std::optional<Reduced> sum = reducedBy(withoutGuard(divisor, 0, 1, isSumGuarded));
  found_.hiddenIsZero = isMaximumGuarded_ && isSumGuarded;
  return sum && sum->combiner == Combiner::AddF &&
         isConstant(sum->start, [](const APFloat &start) { return start.isZero(); }) &&
         terms_.areEqual(sum->contributed, exponential);
}

/// Every result of the last product is divided, where it is read, by the sum that belongs to it.
bool Matcher::findDivisionBehind(const Term &exponential) {
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

/// What runs over queries and keys is read by nothing else: else it is stored anyway.
bool Matcher::isAlone() {
  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, terms_.visited());
  inside.insert(found_.output);
  if (found_.divides)
    inside.insert(found_.divides);
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
    if (isReadElsewhere(op))
      return fail("its scores, or what is computed from them, are read by another operation too");
    for (Operation *user : op->getUsers())
      if (user != found_.output && user != found_.divides.getOperation() && knows.insert(user).second)
        open.push_back(user);
  }
  return true;
}

} // namespace

std::optional<AttentionMatch> matchAttention(linalg::GenericOp output, std::string &reason) {
  return Matcher(output, reason).run();
}

} // namespace tenon::compiler::dispatch
