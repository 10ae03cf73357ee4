// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/optimistic_softmax.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// What this thread's weights of a block may sum up to: f16 has no larger one, and sums of f32 have place for many.
constexpr double kMostHalf = 1 << 15, kMost = 1 << 24;

} // namespace

Value OptimisticSoftmax::constant(double value) {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(float(value)));
}

/// 2^exponent.
Value OptimisticSoftmax::power(Value exponent) {
  return LLVM::InlineAsmOp::create(k_.b, k_.loc, k_.b.getF32Type(), exponent, "ex2.approx.ftz.f32 $0, $1;", "=f,f",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(k_.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

Value OptimisticSoftmax::overRow(Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (uint32_t partner : {1, 2})
    value = combine(value, k_.shuffleXor(value, partner));
  return value;
}

OptimisticSoftmax::Values OptimisticSoftmax::start() {
  Values carried;
  for (uint32_t row = 0; row < kRows; ++row) {
    carried.push_back(constant(1));
    carried.push_back(constant(FLT_MAX));
  }
  carried.append(kRows, constant(0));
  return carried;
}

/// The logit that a block was computed relative to.
Value OptimisticSoftmax::reached(const Reference &reference) {
  return arith::DivFOp::create(k_.b, k_.loc, arith::NegFOp::create(k_.b, k_.loc, reference.offset), reference.factor);
}

/// Of all threads that share a row; -inf is the least number.
Value OptimisticSoftmax::largestOf(ArrayRef<Value> logits, double scale) {
  auto larger = [&](Value x, Value y) -> Value { return arith::MaxNumFOp::create(k_.b, k_.loc, x, y); };
  Value even = logits[0], odd = logits[1]; // two chains: one would wait for itself
  for (size_t i = 2; i < logits.size(); ++i)
    (i % 2 == 0 ? even : odd) = larger(i % 2 == 0 ? even : odd, logits[i]);
  Value largest = overRow(larger(even, odd), larger);
  if (scale != 1)
    largest = arith::MulFOp::create(k_.b, k_.loc, largest, constant(scale));
  return larger(largest, constant(-FLT_MAX));
}

OptimisticSoftmax::Reference OptimisticSoftmax::against(Value largest) {
  Value isLarge = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OGT,
                                        math::AbsFOp::create(k_.b, k_.loc, largest), constant(kLargeReference));
  Value factor = k_.select(isLarge, constant(1), constant(M_LOG2E));
  Value product = arith::MulFOp::create(k_.b, k_.loc, largest, factor);
  return {factor, arith::NegFOp::create(k_.b, k_.loc, product)};
}

/// Left factors; `sums`: what is added up of each row.
OptimisticSoftmax::Values OptimisticSoftmax::weigh(ArrayRef<Values> logits, ArrayRef<Reference> references,
                                                   double scale, llvm::function_ref<void()> beforeFactors,
                                                   Values &sums) {
  const size_t count = logits.front().size();
  Values scales, even(kRows), odd(kRows), factors;
  for (const Reference &reference : references)
    scales.push_back(scale == 1 ? reference.factor
                                : arith::MulFOp::create(k_.b, k_.loc, reference.factor, constant(scale)).getResult());
  auto add = [&](Value &sum, Value weight) {
    sum = sum ? arith::AddFOp::create(k_.b, k_.loc, sum, weight).getResult() : weight;
  };
  SmallVector<Values> weights(kRows);
  auto weighPair = [&](size_t first) {
    for (uint32_t row = 0; row < kRows; ++row)
      for (size_t i = first; i < first + 2; ++i) {
        Value weight = power(math::FmaOp::create(k_.b, k_.loc, logits[row][i], scales[row], references[row].offset));
        weights[row].push_back(weight);
        add(i % 2 == 0 ? even[row] : odd[row], weight);
      }
  };
  // Where they are packed, exponentials run: elsewhere, such as behind the choice between two of them, nothing does.
  auto packPair = [&](size_t first) {
    for (uint32_t row = 0; row < kRows; ++row)
      factors.push_back(k_.opaque(core_.pair(weights[row][first], weights[row][first + 1])));
  };
  const size_t early = std::min<size_t>(early_, count);
  for (size_t first = 0; first < early; first += 2)
    weighPair(first);
  beforeFactors();
  for (size_t first = 0; first < early; first += 2)
    packPair(first);
  for (size_t first = early; first < count; first += 2) {
    weighPair(first);
    packPair(first);
  }
  sums.clear();
  for (uint32_t row = 0; row < kRows; ++row)
    sums.push_back(arith::AddFOp::create(k_.b, k_.loc, even[row], odd[row]));
  return factors;
}

OptimisticSoftmax::Step OptimisticSoftmax::first(ArrayRef<Values> logits, double scale) {
  SmallVector<Reference> references;
  Step step;
  for (uint32_t row = 0; row < kRows; ++row) {
    references.push_back(against(largestOf(logits[row], scale)));
    step.carried.append({references.back().factor, references.back().offset});
  }
  Values sums;
  step.factors = weigh(logits, references, scale, [] {}, sums);
  llvm::append_range(step.carried, sums);
  return step;
}

OptimisticSoftmax::Step OptimisticSoftmax::next(ValueRange carried, ArrayRef<Values> logits, double scale,
                                                llvm::function_ref<Values()> results, Values &sums) {
  SmallVector<Reference> references;
  for (uint32_t row = 0; row < kRows; ++row)
    references.push_back({carried[2 * row], carried[2 * row + 1]});
  const Values before(carried.begin() + 2 * kRows, carried.end());
  Values added;
  const Values factors = weigh(logits, references, scale, [&] { sums = results(); }, added);
  auto multiply = [&](Value x, Value y) -> Value { return arith::MulFOp::create(k_.b, k_.loc, x, y); };
  auto sumOf = [&](Value x, Value y) -> Value { return arith::AddFOp::create(k_.b, k_.loc, x, y); };

  Value isWrong;
  for (Value sum : added) {
    Value isTooLarge =
        arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::UGT, sum, constant(isHalf_ ? kMostHalf : kMost));
    isWrong = isWrong ? arith::OrIOp::create(k_.b, k_.loc, isWrong, isTooLarge).getResult() : isTooLarge;
  }
  Value votes = k_.ballot(isWrong);
  Value anyWrong = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, votes,
                                         arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0)));
  // Chosen: what is carried, the factors, the sums of the result.
  SmallVector<Type> types(kStates, k_.b.getF32Type());
  types.append(factors.size(), k_.b.getI32Type());
  types.append(sums.size(), k_.b.getF32Type());
  auto again = [&] {
    Values chosen, scaledBy, again;
    SmallVector<Reference> moved;
    for (uint32_t row = 0; row < kRows; ++row) {
      Value largest = largestOf(logits[row], scale);
      const Reference &old = references[row], fresh = against(largest);
      Value grows = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OGT, largest, reached(old));
      moved.push_back({k_.select(grows, fresh.factor, old.factor), k_.select(grows, fresh.offset, old.offset)});
      // References of two kinds are infinitely far from each other.
      Value isSame = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OEQ, moved[row].factor, old.factor);
      Value ratio = power(arith::SubFOp::create(k_.b, k_.loc, moved[row].offset, old.offset));
      scaledBy.push_back(k_.select(isSame, ratio, constant(0)));
      chosen.append({moved[row].factor, moved[row].offset});
    }
    const Values redone = weigh(logits, moved, scale, [] {}, again);
    for (uint32_t row = 0; row < kRows; ++row)
      chosen.push_back(sumOf(multiply(before[row], scaledBy[row]), again[row]));
    llvm::append_range(chosen, redone);
    for (auto [i, sum] : llvm::enumerate(sums))
      chosen.push_back(multiply(sum, scaledBy[i % 4 / 2]));
    return chosen;
  };
  auto asBefore = [&] {
    Values chosen(carried.begin(), carried.begin() + 2 * kRows);
    for (uint32_t row = 0; row < kRows; ++row)
      chosen.push_back(sumOf(before[row], added[row]));
    llvm::append_range(chosen, factors);
    llvm::append_range(chosen, sums);
    return chosen;
  };
  const Values chosen = k_.choose(anyWrong, types, again, asBefore);
  const ArrayRef<Value> all = chosen;
  sums.assign(all.end() - sums.size(), all.end());
  return {Values(all.take_front(kStates)), Values(all.slice(kStates, factors.size()))};
}

OptimisticSoftmax::Values OptimisticSoftmax::toReferences(ValueRange carried) {
  Values factors;
  for (uint32_t row = 0; row < kRows; ++row) {
    const Reference reference{carried[2 * row], carried[2 * row + 1]};
    Value told = math::FmaOp::create(k_.b, k_.loc, reached(reference), reference.factor, reference.offset);
    factors.push_back(power(arith::NegFOp::create(k_.b, k_.loc, told)));
  }
  return factors;
}

RowTotals OptimisticSoftmax::totals(ValueRange carried) {
  RowTotals totals;
  for (uint32_t row = 0; row < kRows; ++row) {
    const Reference reference{carried[2 * row], carried[2 * row + 1]};
    totals.references.push_back(reached(reference));
    totals.sums.push_back(overRow(carried[2 * kRows + row], [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(k_.b, k_.loc, x, y);
    }));
  }
  return totals;
}

} // namespace tenon::compiler::codegen
