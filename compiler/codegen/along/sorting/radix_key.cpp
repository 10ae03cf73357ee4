// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_key.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kBits = 8;
static_assert(1U << kBits == RadixKey::kDigits);

} // namespace

unsigned RadixKey::digits() const {
  return unsigned(llvm::divideCeil(type().getIntOrFloatBitWidth(), kBits));
}

/// Floats are a sign and a magnitude: of negative ones all bits are turned, of others the sign.
Value RadixKey::code(KernelBuilder &k, Value key) const {
  const unsigned width = type().getIntOrFloatBitWidth();
  Type wide = k.b.getIntegerType(width <= 32 ? 32 : 64);
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(k.b, k.loc, k.b.getIntegerAttr(wide, value.zext(wide.getIntOrFloatBitWidth())));
  };
  auto is = [&](arith::CmpIPredicate predicate, Value x, const APInt &y) -> Value {
    return arith::CmpIOp::create(k.b, k.loc, predicate, x, constant(y));
  };
  const APInt sign = APInt::getSignMask(width), ones = APInt::getAllOnes(width);
  Value code = key;
  if (isa<FloatType>(type()))
    code = arith::BitcastOp::create(k.b, k.loc, k.b.getIntegerType(width), code);
  if (code.getType() != wide)
    code = arith::ExtUIOp::create(k.b, k.loc, wide, code);
  if (auto floats = dyn_cast<FloatType>(type())) {
    const APInt infinity = APFloat::getInf(floats.getFloatSemantics()).bitcastToAPInt();
    Value magnitude = k.both(code, constant(~sign));
    Value isNan = is(arith::CmpIPredicate::ugt, magnitude, infinity);
    Value isNegative = k.both(is(arith::CmpIPredicate::uge, code, sign),
                              is(arith::CmpIPredicate::ne, magnitude, APInt::getZero(width)));
    Value positive = k.exclusiveOr(magnitude, constant(comparison_.isDescending ? ~sign : sign));
    Value negative = comparison_.isDescending ? code : k.exclusiveOr(code, constant(ones));
    code = k.select(isNan, constant(ones), k.select(isNegative, negative, positive));
  } else {
    const APInt turned = (comparison_.isSigned ? sign : APInt::getZero(width)) ^
                         (comparison_.isDescending ? ones : APInt::getZero(width));
    code = k.exclusiveOr(code, constant(turned));
  }
  return code;
}

Value RadixKey::digit(KernelBuilder &k, Value key, Value number) const {
  const unsigned width = type().getIntOrFloatBitWidth();
  Value code = this->code(k, key);
  if (digits() > 1) {
    Value distance = k.mul(number, k.number(kBits));
    if (width <= 32)
      distance = k.b.createOrFold<arith::TruncIOp>(k.loc, code.getType(), distance);
    code = k.b.createOrFold<arith::ShRUIOp>(k.loc, code, distance);
  }
  if (width > 32)
    code = arith::TruncIOp::create(k.b, k.loc, k.b.getI32Type(), code);
  return k.both(code, arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(kDigits - 1)));
}

Value RadixKey::last(KernelBuilder &k) const {
  if (auto floats = dyn_cast<FloatType>(type()))
    return arith::ConstantOp::create(k.b, k.loc, FloatAttr::get(floats, APFloat::getNaN(floats.getFloatSemantics())));
  const unsigned width = type().getIntOrFloatBitWidth();
  const APInt largest = comparison_.isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  return arith::ConstantOp::create(k.b, k.loc,
                                   k.b.getIntegerAttr(type(), comparison_.isDescending ? ~largest : largest));
}

} // namespace tenon::compiler::codegen
