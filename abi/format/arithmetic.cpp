// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/arithmetic.h"

#include <algorithm>
#include <array>
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
  for (RegisterOpcode opcode : {SignExtend, ZeroExtend})
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

} // namespace

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
  }
  return fault(Fault::NoArithmetic);
}

} // namespace tenon::abi
