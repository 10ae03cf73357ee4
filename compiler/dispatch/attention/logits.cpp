// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/logits.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {

// Operations of a body that are computed again for each logit, rather than stored and read.
static constexpr unsigned kMostCheap = 12;

LogitsBuilder::LogitsBuilder(const AttentionMatch &match, OpBuilder &b)
    : match_(match), b_(b), loc_(linalg::GenericOp(match.output).getLoc()),
      terms_([this](linalg::GenericOp op) { return isPartOfLogits(op); }) {
  for (auto [dimension, loop] : llvm::enumerate(match.parallel))
    dimensionOfLoop_[loop] = dimension;
  dimensionOfLoop_[match.keys] = match.parallel.size();
}

LogitsBuilder::Key LogitsBuilder::keyOf(const Term &term) {
  Key key{term.value.getAsOpaquePointer(), {}};
  for (AffineExpr expr : term.place)
    key.second.push_back(expr.getAsOpaquePointer());
  return key;
}

/// Whether scores are products of numbers of 16 bits or fewer.
bool LogitsBuilder::hasNarrowFactors() {
  linalg::GenericOp scores = match_.scores.front();
  return llvm::all_of(scores.getDpsInputs(), [](Value factor) {
    return getElementTypeOrSelf(factor.getType()).getIntOrFloatBitWidth() <= 16;
  });
}

bool LogitsBuilder::knowsScores(Operation *op) {
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
bool LogitsBuilder::isPartOfLogits(linalg::GenericOp op) {
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

Value LogitsBuilder::sizeOf(unsigned loop) {
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

Value LogitsBuilder::empty(Type element) {
  SmallVector<OpFoldResult> sizes(match_.parallel.size() + 1);
  for (auto [loop, dimension] : dimensionOfLoop_)
    sizes[dimension] = getAsOpFoldResult(sizeOf(loop));
  return tensor::EmptyOp::create(b_, loc_, sizes, element);
}

AffineExpr LogitsBuilder::here(AffineExpr anchor) const {
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0, loops = linalg::GenericOp(match_.output).getNumLoops(); loop < loops; ++loop) {
    auto dimension = dimensionOfLoop_.find(loop);
    dims.push_back(dimension == dimensionOfLoop_.end() ? getAffineConstantExpr(0, b_.getContext())
                                                       : getAffineDimExpr(dimension->second, b_.getContext()));
  }
  return anchor.replaceDims(dims);
}

AffineMap LogitsBuilder::mapOf(const Term &element) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : element.place)
    results.push_back(here(expr));
  return AffineMap::get(match_.parallel.size() + 1, 0, results, b_.getContext());
}

void LogitsBuilder::collectInputs(const Term &term) {
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

Value LogitsBuilder::emit(const Term &term, OpBuilder &b, ValueRange arguments) {
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
Value LogitsBuilder::multiplied(OpBuilder &b, Value value, double factor) {
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
Value LogitsBuilder::build() {
  // Terms of the match went through everything; these go through what is part of the logits.
  const Term logits = match_.logits.kind == Term::Kind::Computed
                          ? terms_.of(match_.logits.value, match_.logits.op, match_.logits.place)
                          : match_.logits;
  collectInputs(logits);
  emitted_.clear();
  Type element = getElementTypeOrSelf(logits.value.getType());
  Type wide = element.isF64() ? element : Type(b_.getF32Type());
  Value start = empty(wide);
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const Term &input : inputs_) {
    tensors.push_back(input.value);
    maps.push_back(mapOf(input));
  }
  const unsigned loops = match_.parallel.size() + 1;
  maps.push_back(b_.getMultiDimIdentityMap(loops));
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b_, loc_, start.getType(), tensors, start, maps, types,
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

} // namespace tenon::compiler::dispatch
