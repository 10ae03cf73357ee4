// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/online_softmax.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

Value OnlineSoftmax::constant(double value) {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getFloatAttr(type_, value));
}

Value OnlineSoftmax::multiply(Value x, Value y) {
  return arith::MulFOp::create(k_.b, k_.loc, x, y);
}

Value OnlineSoftmax::exponential(Value value, Value reference) {
  return math::ExpOp::create(k_.b, k_.loc, arith::SubFOp::create(k_.b, k_.loc, value, reference));
}

/// exp(x - reference) as 2^(x scale + offset), one multiply-add. The offset is rounded, the product is not: of
/// references as large as the numbers that hide keys, the difference would be a power of its own. Their neighbours are
/// 8 and more away, which 2^x tells apart as well as e^x.
OnlineSoftmax::Powers OnlineSoftmax::powersAgainst(Value reference) {
  if (!isFast_)
    return {};
  Value isLarge = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OGT,
                                        math::AbsFOp::create(k_.b, k_.loc, reference), constant(kLargeReference));
  Value scale = k_.select(isLarge, constant(1), constant(M_LOG2E));
  return {scale, arith::NegFOp::create(k_.b, k_.loc, multiply(reference, scale))};
}

/// 2^exponent.
Value OnlineSoftmax::power(Value exponent) {
  return LLVM::InlineAsmOp::create(k_.b, k_.loc, type_, exponent, "ex2.approx.ftz.f32 $0, $1;", "=f,f",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(k_.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

Value OnlineSoftmax::overPartners(Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (uint32_t partner : partners_)
    value = combine(value, k_.shuffleXor(value, partner));
  return value;
}

SmallVector<Value> OnlineSoftmax::start() {
  SmallVector<Value> carried(rows_, constant(-INFINITY));
  carried.append(rows_, constant(0));
  return carried;
}

Value OnlineSoftmax::larger(Value x, Value y) {
  return arith::MaxNumFOp::create(k_.b, k_.loc, x, y);
}

/// What a reference that may still be -inf is subtracted as.
static Value finite(KernelBuilder &k, Value reference, Value zero, Value hidden) {
  Value isHidden = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, reference, hidden);
  return k.select(isHidden, zero, reference);
}

OnlineSoftmax::Step OnlineSoftmax::step(ValueRange carried, MutableArrayRef<SmallVector<Value>> logits, double scale,
                                        double slack) {
  Step step;
  SmallVector<Value> sums;
  for (auto [row, values] : llvm::enumerate(logits)) {
    // Two chains: one would wait for itself.
    Value before = carried[row], even = values[0], odd = values[1 % values.size()];
    for (size_t i = 2; i < values.size(); ++i)
      (i % 2 == 0 ? even : odd) = larger(i % 2 == 0 ? even : odd, values[i]);
    Value ofBlock = overPartners(larger(even, odd), [&](Value x, Value y) { return larger(x, y); });
    if (scale != 1)
      ofBlock = multiply(ofBlock, constant(scale));
    Value largest = larger(before, ofBlock), isKept;
    if (slack > 0) {
      Value most = arith::AddFOp::create(k_.b, k_.loc, before, constant(slack));
      isKept = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OLE, ofBlock, most);
      largest = k_.select(isKept, before, largest);
      step.isSame = step.isSame ? k_.both(step.isSame, isKept) : isKept;
    }
    step.carried.push_back(largest);
    Value reference = finite(k_, step.carried[row], constant(0), constant(-INFINITY));
    const Powers powers = powersAgainst(reference);
    step.factors.push_back(
        isFast_ ? power(arith::AddFOp::create(k_.b, k_.loc, multiply(before, powers.scale), powers.offset))
                : exponential(before, reference));
    if (isKept)
      step.factors.back() = k_.select(isKept, constant(1), step.factors.back());
    Value factor = isFast_ && scale != 1 ? multiply(powers.scale, constant(scale)) : powers.scale;
    Value evenSum, oddSum;
    for (auto [i, value] : llvm::enumerate(values)) {
      if (!isFast_ && scale != 1)
        value = multiply(value, constant(scale));
      value = isFast_ ? power(math::FmaOp::create(k_.b, k_.loc, value, factor, powers.offset))
                      : exponential(value, reference);
      Value &sum = i % 2 == 0 ? evenSum : oddSum;
      sum = sum ? arith::AddFOp::create(k_.b, k_.loc, sum, value).getResult() : value;
    }
    Value added = oddSum ? arith::AddFOp::create(k_.b, k_.loc, evenSum, oddSum).getResult() : evenSum;
    sums.push_back(arith::AddFOp::create(k_.b, k_.loc, multiply(carried[rows_ + row], step.factors[row]), added));
  }
  llvm::append_range(step.carried, sums);
  return step;
}

SmallVector<Value> OnlineSoftmax::scaled(const Step &step, ValueRange sums,
                                         llvm::function_ref<uint32_t(size_t)> rowOf) {
  auto multiplied = [&] {
    SmallVector<Value> result;
    for (auto [i, sum] : llvm::enumerate(sums))
      result.push_back(multiply(sum, step.factors[rowOf(i)]));
    return result;
  };
  if (!step.isSame)
    return multiplied();
  return k_.choose(step.isSame, SmallVector<Type>(sums.getTypes()), [&] { return llvm::to_vector(sums); }, multiplied);
}

Value divisorOf(KernelBuilder &k, Value sum, bool hiddenIsZero) {
  if (!hiddenIsZero)
    return sum;
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(k.b, k.loc, k.b.getFloatAttr(sum.getType(), value));
  };
  Value isHidden = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, sum, constant(0));
  return k.select(isHidden, constant(1), sum);
}

SmallVector<Value> RowTotals::inverses(KernelBuilder &k, bool hiddenIsZero) const {
  SmallVector<Value> inverses;
  for (Value sum : sums) {
    Value one = arith::ConstantOp::create(k.b, k.loc, k.b.getFloatAttr(sum.getType(), 1));
    inverses.push_back(arith::DivFOp::create(k.b, k.loc, one, divisorOf(k, sum, hiddenIsZero)));
  }
  return inverses;
}

RowTotals OnlineSoftmax::totals(ValueRange carried) {
  RowTotals totals{llvm::to_vector(carried.take_front(rows_)), {}};
  for (Value sum : carried.drop_front(rows_).take_front(rows_))
    totals.sums.push_back(
        overPartners(sum, [&](Value x, Value y) -> Value { return arith::AddFOp::create(k_.b, k_.loc, x, y); }));
  return totals;
}

} // namespace tenon::compiler::codegen
