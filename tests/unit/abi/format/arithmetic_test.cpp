// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/arithmetic.h"

#include <gtest/gtest.h>
#include <limits>
#include <optional>

namespace tenon::abi {

using Wide = __int128;
using enum fb::RegisterOpcode;
static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

static const int64_t kEdges[] = {0,        1,        -1,   2,        -2,   3,        -3,         5,         -5,
                                 7,        -7,       63,   64,       -64,  255,      INT32_MAX,  INT32_MIN, UINT32_MAX,
                                 kMax / 2, kMin / 2, kMax, kMax - 1, kMin, kMin + 1, 3037000499, 3037000500};

static Wide floorOf(Wide a, Wide b) {
  Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// The result in 128 bits, by definition; nothing where the operation is not defined.
static std::optional<Wide> reference(fb::RegisterOpcode opcode, Wide a, Wide b) {
  switch (opcode) {
  case Add:
    return a + b;
  case Sub:
    return a - b;
  case Mul:
    return a * b;
  case FloorDiv:
    return b == 0 ? std::nullopt : std::optional(floorOf(a, b));
  case CeilDiv:
    return b == 0 ? std::nullopt : std::optional(-floorOf(-a, b));
  case DivTrunc:
    return b == 0 ? std::nullopt : std::optional(a / b);
  case Mod:
    return b == 0 ? std::nullopt : std::optional(a - b * floorOf(a, b));
  case RemTrunc:
    return b == 0 ? std::nullopt : std::optional(a % b);
  case Min:
    return a < b ? a : b;
  case Max:
    return a < b ? b : a;
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  case Eq:
    return a == b;
  case Lt:
    return a < b;
  case Align:
    return b <= 0 ? std::nullopt : std::optional(-floorOf(-a, b) * b);
  case Const:
  case Arg:
  case Dim:
  case Select:
  case SignExtend:
  case ZeroExtend:
    break;
  }
  return std::nullopt;
}

TEST(Arithmetic, BinaryOperationsAreThoseOfWideIntegers) {
  for (int number = 0; number <= int(fb::RegisterOpcode::MAX); ++number) {
    const auto opcode = fb::RegisterOpcode(number);
    if (operandCount(opcode) != 2)
      continue;
    for (int64_t a : kEdges)
      for (int64_t b : kEdges) {
        const std::optional<Wide> wanted = reference(opcode, a, b);
        const ArithmeticResult found = evaluate(opcode, a, b);
        const ArithmeticFault undefined =
            opcode == Align ? ArithmeticFault::BadAlignment : ArithmeticFault::DivisionByZero;
        const ArithmeticFault fault = !wanted                            ? undefined
                                      : *wanted < kMin || *wanted > kMax ? ArithmeticFault::Overflow
                                                                         : ArithmeticFault::None;
        ASSERT_EQ(int(found.fault), int(fault)) << fb::EnumNameRegisterOpcode(opcode) << ' ' << a << ' ' << b;
        if (found.ok())
          ASSERT_EQ(found.value, int64_t(*wanted)) << fb::EnumNameRegisterOpcode(opcode) << ' ' << a << ' ' << b;
      }
  }
}

// The compiler used to keep these two for the runtime, which computes them.
TEST(Arithmetic, TheRemainderByMinusOneIsZero) {
  EXPECT_EQ(evaluate(Mod, kMin, -1).fault, ArithmeticFault::None);
  EXPECT_EQ(evaluate(Mod, kMin, -1).value, 0);
  EXPECT_EQ(evaluate(RemTrunc, kMin, -1).fault, ArithmeticFault::None);
  EXPECT_EQ(evaluate(RemTrunc, kMin, -1).value, 0);
}

TEST(Arithmetic, ExtendsFromEveryWidth) {
  for (int64_t a : kEdges)
    for (int bits = 1; bits <= 64; ++bits) {
      const Wide modulus = Wide(1) << bits;
      Wide low = ((a % modulus) + modulus) % modulus;
      if (bits < 64)
        ASSERT_EQ(evaluate(ZeroExtend, a, 0, 0, bits).value, int64_t(low)) << a << ' ' << bits;
      if (low >= modulus / 2)
        low -= modulus;
      ASSERT_EQ(evaluate(SignExtend, a, 0, 0, bits).value, int64_t(low)) << a << ' ' << bits;
    }
  EXPECT_EQ(evaluate(ZeroExtend, -1, 0, 0, 64).value, -1) << "64 bits are all there are";
  for (int64_t bits : {int64_t(0), int64_t(65), int64_t(-1), kMax, kMin}) {
    EXPECT_EQ(evaluate(SignExtend, 1, 0, 0, bits).fault, ArithmeticFault::BadWidth);
    EXPECT_EQ(evaluate(ZeroExtend, 1, 0, 0, bits).fault, ArithmeticFault::BadWidth);
  }
}

TEST(Arithmetic, SelectsAndTakesConstants) {
  EXPECT_EQ(evaluate(Const, 1, 2, 3, 4).value, 4);
  EXPECT_EQ(evaluate(Select, 0, 2, 3).value, 3);
  EXPECT_EQ(evaluate(Select, -1, 2, 3).value, 2);
}

TEST(Arithmetic, RefusesWhatIsNoArithmetic) {
  for (auto opcode : {Arg, Dim, fb::RegisterOpcode(uint8_t(fb::RegisterOpcode::MAX) + 1), fb::RegisterOpcode(255)}) {
    EXPECT_EQ(evaluate(opcode, 1, 2, 3, 4).fault, ArithmeticFault::NoArithmetic);
    EXPECT_EQ(operandCount(opcode), 0u);
  }
}

} // namespace tenon::abi
