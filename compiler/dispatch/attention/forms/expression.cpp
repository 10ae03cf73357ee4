// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/expression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Comparisons of terms; a body of thousands of operations is none of ours.
constexpr unsigned kBudget = 4096;

using Place = SmallVector<AffineExpr, 4>;

/// Of each group of dimensions that a reshape makes one, the one that is not of size 1; nothing where there are two.
std::optional<SmallVector<int64_t>> onlyLongOnes(ArrayRef<ReassociationIndices> groups, RankedTensorType longer) {
  SmallVector<int64_t> only;
  for (const ReassociationIndices &group : groups) {
    int64_t found = -1;
    for (int64_t dimension : group) {
      if (longer.getDimSize(dimension) == 1)
        continue;
      if (found >= 0)
        return std::nullopt;
      found = dimension;
    }
    only.push_back(found);
  }
  return only;
}

/// Where the loops of `op` are when it computes the element at `at` of a result; empty where that does not say it.
Place loopsFor(linalg::GenericOp op, AffineMap written, ArrayRef<AffineExpr> at) {
  Place loops(op.getNumLoops());
  for (auto [expr, index] : llvm::zip_equal(written.getResults(), at)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
    else if (!isa<AffineConstantExpr>(expr))
      return {};
  }
  return llvm::is_contained(loops, AffineExpr()) ? Place() : loops;
}

/// Whether both are the same element: along a dimension of one there is no other.
bool areSamePlace(Value tensor, ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  const ArrayRef<int64_t> shape = cast<ShapedType>(tensor.getType()).getShape();
  return llvm::all_of(llvm::seq<size_t>(0, shape.size()),
                      [&](size_t dimension) { return shape[dimension] == 1 || a[dimension] == b[dimension]; });
}

bool hasPlainBody(linalg::GenericOp op) {
  return llvm::all_of(*op.getBody(), [](Operation &inner) { return inner.getNumRegions() == 0; });
}

using Seen = std::set<std::pair<const void *, std::vector<const void *>>>; // values at places

void collectElements(Terms &terms, const Term &term, SmallVectorImpl<Term> &elements, Seen &seen) {
  if (term.kind == Term::Kind::Element) {
    elements.push_back(term);
    return;
  }
  std::vector<const void *> place;
  for (AffineExpr expr : term.place)
    place.push_back(expr.getAsOpaquePointer());
  if (term.kind != Term::Kind::Computed || !seen.insert({term.value.getAsOpaquePointer(), place}).second)
    return;
  for (unsigned i = 0; i < term.operation()->getNumOperands(); ++i)
    collectElements(terms, terms.operand(term, i), elements, seen);
}

} // namespace

Term Terms::element(Value tensor, Place at) {
  for (;;) {
    Operation *producer = tensor.getDefiningOp();
    if (auto cast = dyn_cast_or_null<tensor::CastOp>(producer)) {
      tensor = cast.getSource();
    } else if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(producer)) {
      const auto only = onlyLongOnes(expand.getReassociationIndices(), expand.getResultType());
      if (!only)
        break;
      Place source;
      for (int64_t dimension : *only)
        source.push_back(dimension < 0 ? getAffineConstantExpr(0, tensor.getContext()) : at[dimension]);
      tensor = expand.getSrc();
      at = source;
    } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer)) {
      const auto only = onlyLongOnes(collapse.getReassociationIndices(), collapse.getSrcType());
      if (!only)
        break;
      Place source(collapse.getSrcType().getRank(), getAffineConstantExpr(0, tensor.getContext()));
      for (auto [index, dimension] : llvm::zip_equal(at, *only))
        if (dimension >= 0)
          source[dimension] = index;
      tensor = collapse.getSrc();
      at = source;
    } else if (auto fill = dyn_cast_or_null<linalg::FillOp>(producer)) {
      return {Term::Kind::Outside, fill.getInputs()[0], {}, {}};
    } else {
      break;
    }
    visit(producer);
  }
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || !hasPlainBody(op) ||
      (follows_ && !follows_(op)))
    return {Term::Kind::Element, tensor, {}, at};
  auto result = cast<OpResult>(tensor);
  const Place loops = loopsFor(op, op.getIndexingMapMatchingResult(result), at);
  if (loops.empty())
    return {Term::Kind::Element, tensor, {}, at};
  visit(op);
  return of(op.getBody()->getTerminator()->getOperand(result.getResultNumber()), op, loops);
}

Term Terms::of(Value value, linalg::GenericOp op, ArrayRef<AffineExpr> place) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == op.getBody()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!isa<RankedTensorType>(operand->get().getType()))
      return {Term::Kind::Outside, operand->get(), {}, {}};
    Place at;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      at.push_back(expr.replaceDims(place));
    return element(operand->get(), at);
  }
  if (argument || value.getParentBlock() != op.getBody())
    return {Term::Kind::Outside, value, {}, {}};
  return {Term::Kind::Computed, value, op, Place(place)};
}

Term Terms::operand(const Term &term, unsigned number) {
  return of(term.operation()->getOperand(number), term.op, term.place);
}

Term Terms::withoutCasts(Term term) {
  while (term.is<arith::ExtFOp>() || term.is<arith::TruncFOp>())
    term = operand(term, 0);
  return term;
}

Term Terms::withoutFactor(Term term, double &factor) {
  term = withoutCasts(term);
  for (unsigned side : {0, 1}) {
    if (!term.is<arith::MulFOp>())
      break;
    double constant = 0;
    const bool isFactor = isConstant(withoutCasts(operand(term, side)), [&](const APFloat &value) {
      APFloat wide = value;
      bool losesInfo = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      constant = wide.convertToDouble();
      return constant > 0 && std::isfinite(constant);
    });
    if (isFactor) {
      factor *= constant;
      return withoutCasts(operand(term, 1 - side));
    }
  }
  return term;
}

Term Terms::withoutGuard(Term term, double guarded, double instead, bool &isGuarded) {
  term = withoutCasts(term);
  if (!term.is<arith::SelectOp>())
    return term;
  auto is = [&](const Term &constant, double wanted) {
    return isConstant(withoutCasts(constant), [&](const APFloat &value) {
      return std::isinf(wanted) ? value.isInfinity() && value.isNegative() == (wanted < 0)
                                : value.isExactlyValue(wanted);
    });
  };
  const Term condition = operand(term, 0), other = operand(term, 2);
  auto compare = dyn_cast_or_null<arith::CmpFOp>(condition.operation());
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ || !is(operand(condition, 1), guarded) ||
      !is(operand(term, 1), instead) || !areEqual(operand(condition, 0), other))
    return term;
  isGuarded = true;
  return withoutCasts(other);
}

bool Terms::areEqual(const Term &a, const Term &b) {
  unsigned budget = kBudget;
  return areEqual(a, b, budget);
}

bool Terms::areEqual(const Term &first, const Term &second, unsigned &budget) {
  if (budget == 0)
    return false;
  --budget;
  const Term a = withoutCasts(first), b = withoutCasts(second);
  if (a.kind != b.kind)
    return false;
  if (a.value == b.value && a.place == b.place)
    return true;
  if (a.kind == Term::Kind::Element)
    return a.value == b.value && areSamePlace(a.value, a.place, b.place);
  if (a.kind == Term::Kind::Outside) {
    Attribute x, y;
    return matchPattern(a.value, m_Constant(&x)) && matchPattern(b.value, m_Constant(&y)) && x == y;
  }
  Operation *x = a.operation(), *y = b.operation();
  if (x->getName() != y->getName() || x->getNumOperands() != y->getNumOperands() ||
      cast<OpResult>(a.value).getResultNumber() != cast<OpResult>(b.value).getResultNumber())
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(x))
    return a.place[index.getDim()] == b.place[cast<linalg::IndexOp>(y).getDim()];
  if (x->getDiscardableAttrDictionary() != y->getDiscardableAttrDictionary() ||
      x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute())
    return false;
  for (unsigned i = 0; i < x->getNumOperands(); ++i)
    if (!areEqual(operand(a, i), operand(b, i), budget))
      return false;
  return true;
}

SmallVector<AffineExpr> loopsOf(linalg::GenericOp op) {
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(getAffineDimExpr(loop, op.getContext()));
  return loops;
}

SmallVector<Term> elementsOf(Terms &terms, const Term &term) {
  SmallVector<Term> elements;
  Seen seen;
  collectElements(terms, term, elements, seen);
  return elements;
}

TypedAttr splatOf(Value tensor) {
  DenseElementsAttr data;
  if (!matchPattern(tensor, m_Constant(&data)) || !data.isSplat())
    return {};
  return cast<TypedAttr>(data.getSplatValue<Attribute>());
}

bool isConstant(const Term &term, llvm::function_ref<bool(const APFloat &)> holds) {
  Attribute attribute;
  if (term.kind == Term::Kind::Element)
    attribute = splatOf(term.value);
  else
    matchPattern(term.value, m_Constant(&attribute));
  auto number = dyn_cast_or_null<FloatAttr>(attribute);
  return number && holds(number.getValue());
}

} // namespace tenon::compiler::dispatch
