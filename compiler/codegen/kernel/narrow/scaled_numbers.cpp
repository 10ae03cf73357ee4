// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/narrow/scaled_numbers.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

// Powers of two, as exponents: of the last bit of the smallest bf16, and of the largest one.
static constexpr int kLeastExponent = -133, kMostExponent = 127, kScaleExponent = 6;
static_assert(kLeastExponent + kMostExponent + kScaleExponent == 0 && 1 << kScaleExponent == ScaledNumbers::kScale);

VectorType ScaledNumbers::pairType() {
  return VectorType::get(2, k_.b.getBF16Type());
}

Value ScaledNumbers::pairOf(double low, double high) {
  auto number = [&](double value) { return k_.b.getFloatAttr(k_.b.getBF16Type(), value).getValue(); };
  return arith::ConstantOp::create(k_.b, k_.loc, DenseElementsAttr::get(pairType(), {number(low), number(high)}));
}

Value ScaledNumbers::numbers(Value bits, uint32_t low, uint32_t high, uint32_t sign) {
  Value pair = LLVM::BitcastOp::create(k_.b, k_.loc, pairType(), bits);
  auto factor = [](uint32_t shift) { return std::ldexp(1.0, kMostExponent - int(shift)); };
  Value factors = pairOf(factor(low), factor(high));
  if (sign == 0)
    return arith::MulFOp::create(k_.b, k_.loc, pair, factors);
  const double offset = -double(sign) / kScale;
  return LLVM::FMAOp::create(k_.b, k_.loc, pair, factors, pairOf(offset, offset));
}

Value ScaledNumbers::unscaled(Value pair) {
  return arith::MulFOp::create(k_.b, k_.loc, pair, pairOf(kScale, kScale));
}

Value ScaledNumbers::scaledOf(Value pair) {
  auto product = pair.getDefiningOp<arith::MulFOp>();
  DenseFPElementsAttr factor;
  if (!product || !matchPattern(product.getRhs(), m_Constant(&factor)) || !factor.isSplat() ||
      factor.getSplatValue<APFloat>().convertToDouble() != kScale)
    return {};
  return product.getLhs();
}

Value ScaledNumbers::difference(Value scaled, Value subtracted) {
  auto product = scaled.getDefiningOp<arith::MulFOp>();
  if (!product) // a signed integer
    return arith::SubFOp::create(k_.b, k_.loc, scaled, subtracted);
  Value negated = arith::NegFOp::create(k_.b, k_.loc, subtracted);
  return LLVM::FMAOp::create(k_.b, k_.loc, product.getLhs(), product.getRhs(), negated);
}

Value ScaledNumbers::scaled(Value factor, double by) {
  if (!factor.getType().isBF16())
    return {};
  Value &known = (by > 1 ? multiplied_ : divided_)[factor];
  if (known)
    return known;
  Value both = LLVM::PoisonOp::create(k_.b, k_.loc, pairType());
  for (int64_t lane : {0, 1})
    both = LLVM::InsertElementOp::create(k_.b, k_.loc, both, factor, k_.number(lane));
  known = arith::MulFOp::create(k_.b, k_.loc, both, pairOf(by, by));
  auto bits = [&](Value pair) { return LLVM::BitcastOp::create(k_.b, k_.loc, k_.b.getI32Type(), pair); };
  Value back = arith::MulFOp::create(k_.b, k_.loc, known, pairOf(1 / by, 1 / by));
  Value unlike = arith::XOrIOp::create(k_.b, k_.loc, bits(back), bits(both));
  unlike_ = unlike_ ? Value(arith::OrIOp::create(k_.b, k_.loc, unlike_, unlike)) : unlike;
  return known;
}

} // namespace tenon::compiler::codegen
