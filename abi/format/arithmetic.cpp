// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/arithmetic.h"

#include "support/small_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tenon::abi {

using fb::RegisterOpcode;
using Fault = ArithmeticFault;

namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

constexpr auto kOperandCounts = [] {
  using enum RegisterOpcode;
  std::array<uint8_t, size_t(RegisterOpcode::MAX) + 1> counts;
  counts.fill(2);
  for (RegisterOpcode opcode : {Const, Arg, Dim})
    counts[size_t(opcode)] = 0;
  for (RegisterOpcode opcode :
       {SignExtend, ZeroExtend, FSqrt, FFloor, FCeil, FTrunc, FRound, FRoundEven, FFromInt, FToInt, FConvert})
    counts[size_t(opcode)] = 1;
  counts[size_t(Select)] = 3;
  return counts;
}();

ArithmeticResult fault(Fault why) {
  return {0, why};
}

enum class RoundTo : uint8_t { Floor, Ceil, Zero };

ArithmeticResult divide(int64_t a, int64_t b, RoundTo rounding) {
  if (b == 0)
    return fault(Fault::DivisionByZero);
  if (a == kMin && b == -1)
    return fault(Fault::Overflow);
  int64_t quotient = a / b;
  const bool isInexact = a % b != 0, isNegative = (a < 0) != (b < 0);
  if (rounding == RoundTo::Floor && isInexact && isNegative)
    --quotient;
  if (rounding == RoundTo::Ceil && isInexact && !isNegative)
    ++quotient;
  return {quotient};
}

/// The remainder that goes with divide(): of the divisor's sign (Floor) or of the dividend's (Zero).
ArithmeticResult remainder(int64_t a, int64_t b, RoundTo rounding) {
  if (b == 0)
    return fault(Fault::DivisionByZero);
  if (b == -1)
    return {0}; // also for the smallest number, whose quotient does not exist
  int64_t rest = a % b;
  if (rounding == RoundTo::Floor && rest != 0 && (rest < 0) != (b < 0))
    rest += b;
  return {rest};
}

/// Up, also below zero: -5 aligned to 4 is -4.
ArithmeticResult align(int64_t a, int64_t b) {
  if (b <= 0)
    return fault(Fault::BadAlignment);
  const int64_t over = a % b;
  if (over == 0)
    return {a};
  int64_t out = 0;
  if (__builtin_add_overflow(a, over > 0 ? b - over : -over, &out))
    return fault(Fault::Overflow);
  return {out};
}

ArithmeticResult extend(int64_t a, int64_t bits, bool isSigned) {
  if (bits < 1 || bits > 64)
    return fault(Fault::BadWidth);
  const int shift = static_cast<int>(64 - bits);
  const uint64_t raised = static_cast<uint64_t>(a) << shift;
  return {isSigned ? static_cast<int64_t>(raised) >> shift : static_cast<int64_t>(raised >> shift)};
}

// --- Floats ---------------------------------------------------------------------------------------------------------

double realOf(int64_t bits, int64_t width) {
  return width == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                     : std::bit_cast<double>(bits);
}
template <typename Real> int64_t bitsOf(Real value) {
  if constexpr (sizeof(Real) == 4)
    return static_cast<int64_t>(std::bit_cast<uint32_t>(value));
  else
    return std::bit_cast<int64_t>(value);
}

/// The quiet NaN that has neither sign nor payload: what a NaN's bits are would otherwise be the machine's choice.
template <typename Real> int64_t resultOf(Real value) {
  return bitsOf(std::isnan(value) ? std::numeric_limits<Real>::quiet_NaN() : value);
}

/// Minimum and maximum: a NaN where one is, -0 below 0.
template <typename Real> Real extremum(Real a, Real b, bool isMax) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<Real>::quiet_NaN();
  if (a == b)
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

/// Half away from zero is std::round's rule; ties go to even here, whatever the rounding mode of the thread.
template <typename Real> Real roundEven(Real value) {
  const Real down = std::floor(value), over = value - down;
  if (over != Real(0.5))
    return std::copysign(over < Real(0.5) ? down : std::ceil(value), value);
  return std::copysign(std::fmod(down, Real(2)) == 0 ? down : down + 1, value);
}

ArithmeticResult toInteger(double value) {
  // 2^63 is a double, and the first that does not fit.
  if (!(value > -9223372036854777856.0 && value < 9223372036854775808.0))
    return fault(Fault::NotAnInteger);
  return {static_cast<int64_t>(value)};
}

template <typename Real> ArithmeticResult evaluateReal(RegisterOpcode opcode, int64_t a, int64_t b) {
  using enum RegisterOpcode;
  const Real x = sizeof(Real) == 4 ? Real(realOf(a, 32)) : Real(realOf(a, 64));
  const Real y = sizeof(Real) == 4 ? Real(realOf(b, 32)) : Real(realOf(b, 64));
  switch (opcode) {
  case FAdd:
    return {resultOf(x + y)};
  case FSub:
    return {resultOf(x - y)};
  case FMul:
    return {resultOf(x * y)};
  case FDiv:
    return {resultOf(x / y)};
  case FRem:
    return {resultOf(std::fmod(x, y))};
  case FMin:
  case FMax:
    return {resultOf(extremum(x, y, opcode == FMax))};
  case FMinNum:
  case FMaxNum:
    return {resultOf(std::isnan(x) ? y : std::isnan(y) ? x : extremum(x, y, opcode == FMaxNum))};
  case FEq:
    return {x == y};
  case FLt:
    return {x < y};
  case FLe:
    return {x <= y};
  case FSqrt:
    return {resultOf(std::sqrt(x))};
  case FFloor:
    return {resultOf(std::floor(x))};
  case FCeil:
    return {resultOf(std::ceil(x))};
  case FTrunc:
    return {resultOf(std::trunc(x))};
  case FRound:
    return {resultOf(std::round(x))};
  case FRoundEven:
    return {resultOf(std::isfinite(x) ? roundEven(x) : x)};
  case FFromInt:
    return {resultOf(static_cast<Real>(a))};
  case FToInt:
    return toInteger(static_cast<double>(x));
  default:
    return fault(Fault::NoArithmetic);
  }
}

bool isReal(int64_t type) {
  using enum fb::ElementType;
  return type == int64_t(F16) || type == int64_t(BF16) || type == int64_t(F32) || type == int64_t(F64);
}

/// Through f32 for the 16-bit types.
ArithmeticResult convert(int64_t bits, int64_t types) {
  using enum fb::ElementType;
  const auto from = fb::ElementType(types & 0xff), to = fb::ElementType(types >> 8 & 0xff);
  if (!isWidthValid(RegisterOpcode::FConvert, types))
    return fault(Fault::BadWidth);
  double value = 0;
  if (from == F16)
    value = f16ToFloat(static_cast<uint16_t>(bits));
  else if (from == BF16)
    value = bf16ToFloat(static_cast<uint16_t>(bits));
  else
    value = realOf(bits, from == F32 ? 32 : 64);
  if (std::isnan(value))
    value = std::numeric_limits<double>::quiet_NaN(); // whose sign and payload no conversion keeps
  switch (to) {
  case F16:
    return {floatToF16(doubleToOddFloat(value))};
  case BF16:
    return {floatToBf16(doubleToOddFloat(value))};
  case F32:
    return {resultOf(static_cast<float>(value))};
  default:
    return {resultOf(value)};
  }
}

} // namespace

bool isWidthValid(RegisterOpcode opcode, int64_t imm) {
  if (opcode == RegisterOpcode::SignExtend || opcode == RegisterOpcode::ZeroExtend)
    return imm >= 1 && imm <= 64;
  if (opcode == RegisterOpcode::FConvert)
    return imm >= 0 && imm >> 16 == 0 && isReal(imm & 0xff) && isReal(imm >> 8);
  return opcode < RegisterOpcode::FAdd || opcode > RegisterOpcode::FToInt || imm == 32 || imm == 64;
}

int64_t conversionOf(fb::ElementType from, fb::ElementType to) {
  return int64_t(from) | int64_t(to) << 8;
}

uint32_t operandCount(RegisterOpcode opcode) {
  return size_t(opcode) < kOperandCounts.size() ? kOperandCounts[size_t(opcode)] : 0;
}

ArithmeticResult evaluate(RegisterOpcode opcode, int64_t a, int64_t b, int64_t c, int64_t imm) {
  int64_t out = 0;
  switch (opcode) {
  case RegisterOpcode::Const:
    return {imm};
  case RegisterOpcode::Arg:
  case RegisterOpcode::Dim:
    return fault(Fault::NoArithmetic);
  case RegisterOpcode::Add:
    return __builtin_add_overflow(a, b, &out) ? fault(Fault::Overflow) : ArithmeticResult{out};
  case RegisterOpcode::Sub:
    return __builtin_sub_overflow(a, b, &out) ? fault(Fault::Overflow) : ArithmeticResult{out};
  case RegisterOpcode::Mul:
    return __builtin_mul_overflow(a, b, &out) ? fault(Fault::Overflow) : ArithmeticResult{out};
  case RegisterOpcode::AddWrap:
    return {int64_t(uint64_t(a) + uint64_t(b))};
  case RegisterOpcode::SubWrap:
    return {int64_t(uint64_t(a) - uint64_t(b))};
  case RegisterOpcode::MulWrap:
    return {int64_t(uint64_t(a) * uint64_t(b))};
  case RegisterOpcode::FloorDiv:
    return divide(a, b, RoundTo::Floor);
  case RegisterOpcode::CeilDiv:
    return divide(a, b, RoundTo::Ceil);
  case RegisterOpcode::DivTrunc:
    return divide(a, b, RoundTo::Zero);
  case RegisterOpcode::Mod:
    return remainder(a, b, RoundTo::Floor);
  case RegisterOpcode::RemTrunc:
    return remainder(a, b, RoundTo::Zero);
  case RegisterOpcode::Min:
    return {std::min(a, b)};
  case RegisterOpcode::Max:
    return {std::max(a, b)};
  case RegisterOpcode::And:
    return {a & b};
  case RegisterOpcode::Or:
    return {a | b};
  case RegisterOpcode::Xor:
    return {a ^ b};
  case RegisterOpcode::Eq:
    return {a == b};
  case RegisterOpcode::Lt:
    return {a < b};
  case RegisterOpcode::Select:
    return {a ? b : c};
  case RegisterOpcode::Align:
    return align(a, b);
  case RegisterOpcode::SignExtend:
    return extend(a, imm, true);
  case RegisterOpcode::ZeroExtend:
    return extend(a, imm, false);
  case RegisterOpcode::FConvert:
    return convert(a, imm);
  default: // floats
    if (opcode > RegisterOpcode::MAX || !isWidthValid(opcode, imm))
      return fault(opcode > RegisterOpcode::MAX ? Fault::NoArithmetic : Fault::BadWidth);
    return imm == 32 ? evaluateReal<float>(opcode, a, b) : evaluateReal<double>(opcode, a, b);
  }
}

} // namespace tenon::abi
