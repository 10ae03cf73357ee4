// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/one_pass.h"

#include "compiler/codegen/kernel/bodies/origins.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using tenon::compiler::dispatch::Combiner;

namespace tenon::compiler::codegen {
namespace {

bool isWide(Type type) {
  return type.isF32() || type.isF64();
}

/// (x - c)^2 in f32 or f64, with c computed from the sum of x: of `over`. @return where c is read
std::optional<Place> centerOver(const Origins &origins, const RowSum &sum, const RowSum &over) {
  if (sum.sum.combiner != Combiner::AddF || over.sum.combiner != Combiner::AddF || sum.sum.type != over.sum.type)
    return std::nullopt;
  const Place square = origins.sourceOf({sum.op, sum.contributed});
  auto mul = square.value.getDefiningOp<arith::MulFOp>();
  if (!mul || mul.getType() != sum.sum.type || !origins.areSame({square.op, mul.getLhs()}, {square.op, mul.getRhs()}))
    return std::nullopt;
  const Place difference = origins.sourceOf({square.op, mul.getLhs()});
  auto sub = difference.value.getDefiningOp<arith::SubFOp>();
  if (!sub || sub.getType() != sum.sum.type)
    return std::nullopt;
  auto center = dyn_cast<BlockArgument>(sub.getRhs());
  if (auto wide = sub.getRhs().getDefiningOp<arith::ExtFOp>())
    center = dyn_cast<BlockArgument>(wide.getIn());
  if (!center || !Origins::inputOf({difference.op, center}) || !origins.isOf({difference.op, center}, over) ||
      !origins.areSame({difference.op, sub.getLhs()}, {over.op, over.contributed}))
    return std::nullopt;
  return Place{difference.op, center};
}

Value constant(KernelBuilder &k, Type type, double value) {
  return arith::ConstantOp::create(k.b, k.loc, k.b.getFloatAttr(type, value));
}
Value infinity(KernelBuilder &k, Type type) {
  return arith::ConstantOp::create(
      k.b, k.loc,
      k.b.getFloatAttr(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true)));
}
template <typename Op> Value binary(KernelBuilder &k, Value x, Value y) {
  return Op::create(k.b, k.loc, x, y);
}

} // namespace

Operation *exponentialOver(const Origins &origins, const RowSum &sum, const RowSum &over) {
  if (sum.sum.combiner != Combiner::AddF ||
      (over.sum.combiner != Combiner::MaximumF && over.sum.combiner != Combiner::MaxNumF))
    return nullptr;
  const Place e = origins.sourceOf({sum.op, sum.contributed});
  Operation *exponential = e.value.getDefiningOp();
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exponential) || !isWide(e.value.getType()) ||
      e.value.getType() != sum.sum.type)
    return nullptr;
  const Place difference = origins.sourceOf({e.op, exponential->getOperand(0)});
  auto sub = difference.value.getDefiningOp<arith::SubFOp>();
  if (!sub || sub.getType() != e.value.getType() ||
      !origins.isReduction(origins.sourceOf({difference.op, sub.getRhs()}), over) ||
      !origins.areSame({difference.op, sub.getLhs()}, {over.op, over.contributed}))
    return nullptr;
  return exponential;
}

std::optional<SmallVector<OnePassSum>> onePassSums(const KernelFunction &kernel, const GroupShape &shape,
                                                   ArrayRef<RowSum> first, ArrayRef<RowSum> then) {
  const Origins origins(kernel, shape);
  SmallVector<OnePassSum> sums;
  for (const RowSum &sum : then) {
    for (const RowSum &over : first) {
      if (Operation *exponential = exponentialOver(origins, sum, over)) {
        sums.push_back({OnePassSum::Kind::Exponentials, sum, over, exponential, nullptr, {}});
        break;
      }
      if (std::optional<Place> center = centerOver(origins, sum, over)) {
        sums.push_back({OnePassSum::Kind::Squares, sum, over, nullptr, center->op, cast<BlockArgument>(center->value)});
        break;
      }
    }
    if (sums.empty() || sums.back().sum.op != sum.op || sums.back().sum.output != sum.output)
      return std::nullopt;
  }
  return sums;
}

Type OnePassSum::type() const {
  return sum.sum.type;
}

Value OnePassSum::widened(KernelBuilder &k, Value value) const {
  return value.getType() == type() ? value : arith::ExtFOp::create(k.b, k.loc, type(), value).getResult();
}

Value OnePassSum::exponentialOf(KernelBuilder &k, Value value) const {
  if (auto power = dyn_cast<math::Exp2Op>(exponential))
    return math::Exp2Op::create(k.b, k.loc, value, power.getFastmath());
  return math::ExpOp::create(k.b, k.loc, value, cast<math::ExpOp>(exponential).getFastmath());
}

SmallVector<Value> OnePassSum::start(KernelBuilder &k) const {
  Value zero = constant(k, type(), 0);
  if (kind == Kind::Exponentials)
    return {infinity(k, type()), zero}; // r, s
  return {zero, zero, zero};            // n, a, q
}

SmallVector<Value> OnePassSum::join(KernelBuilder &k, ValueRange state, ArrayRef<Value> x) const {
  const Sum sums = {Combiner::AddF, type(), type()};
  Value zero = constant(k, type(), 0);
  if (kind == Kind::Exponentials) {
    Value r = state[0], lowest = infinity(k, type());
    SmallVector<Value> seen = {r};
    for (Value each : x)
      seen.push_back(widened(k, each));
    Value top = combineAll(k, {over.sum.combiner, type(), type()}, seen);
    // Where no number has been seen there is nothing to be relative to, and s is 0 or NaN.
    auto isNumber = [&](Value value) -> Value {
      return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OGT, value, lowest);
    };
    Value reference = k.select(isNumber(top), top, zero);
    SmallVector<Value> terms;
    for (Value each : ArrayRef(seen).drop_front())
      terms.push_back(exponentialOf(k, binary<arith::SubFOp>(k, each, reference)));
    Value factor = k.select(isNumber(r), exponentialOf(k, binary<arith::SubFOp>(k, r, reference)), zero);
    Value s = binary<arith::AddFOp>(k, binary<arith::MulFOp>(k, state[1], factor), combineAll(k, sums, terms));
    return {top, s};
  }
  Value count = constant(k, type(), double(x.size()));
  Value mean = combineAll(k, sums, x);
  if (x.size() > 1)
    mean = binary<arith::MulFOp>(k, mean, constant(k, type(), 1.0 / double(x.size())));
  SmallVector<Value> squares;
  for (Value each : x) {
    Value d = binary<arith::SubFOp>(k, each, mean);
    squares.push_back(binary<arith::MulFOp>(k, d, d));
  }
  Value n = binary<arith::AddFOp>(k, state[0], count);
  Value share = binary<arith::DivFOp>(k, count, n);
  Value step = binary<arith::SubFOp>(k, mean, state[1]);
  Value a = binary<arith::AddFOp>(k, state[1], binary<arith::MulFOp>(k, step, share));
  Value between =
      binary<arith::MulFOp>(k, binary<arith::MulFOp>(k, step, step), binary<arith::MulFOp>(k, state[0], share));
  Value q = binary<arith::AddFOp>(k, state[2], binary<arith::AddFOp>(k, combineAll(k, sums, squares), between));
  return {n, a, q};
}

Value OnePassSum::referenceOf(Bodies &bodies, const Point &row, unsigned lane) const {
  return kind == Kind::Exponentials ? bodies.rowOf(over, lane) : bodies.rowOperand(*centerOp, center, row, lane);
}

Value OnePassSum::finish(KernelBuilder &k, ValueRange state, Value reference) const {
  reference = widened(k, reference);
  if (kind == Kind::Exponentials)
    return binary<arith::MulFOp>(k, state[1], exponentialOf(k, binary<arith::SubFOp>(k, state[0], reference)));
  Value d = binary<arith::SubFOp>(k, state[1], reference), zero = constant(k, type(), 0);
  Value all = binary<arith::MulFOp>(k, state[0], binary<arith::MulFOp>(k, d, d));
  Value seen = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OGT, state[0], zero);
  return k.select(seen, binary<arith::AddFOp>(k, state[2], all), zero);
}

} // namespace tenon::compiler::codegen
