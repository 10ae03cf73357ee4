// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/arithmetic.h"

#include "support/small_float.h"

#include <bit>
#include <cmath>
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
  case AddWrap:
    return int64_t(uint64_t((unsigned __int128)(a + b)));
  case SubWrap:
    return int64_t(uint64_t((unsigned __int128)(a - b)));
  case MulWrap:
    return int64_t(uint64_t((unsigned __int128)(a * b)));
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
  default:
    break;
  }
  return std::nullopt;
}

static bool isOfFloats(fb::RegisterOpcode opcode) {
  return opcode >= FAdd && opcode <= FConvert;
}

TEST(Arithmetic, BinaryOperationsAreThoseOfWideIntegers) {
  for (int number = 0; number <= int(fb::RegisterOpcode::MAX); ++number) {
    const auto opcode = fb::RegisterOpcode(number);
    if (operandCount(opcode) != 2 || isOfFloats(opcode))
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

// --- Floats ---------------------------------------------------------------------------------------------------------

static const double kReals[] = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                0.5,
                                -0.5,
                                1.5,
                                2.5,
                                -2.5,
                                3.0,
                                0.1,
                                -7.3,
                                1e-45,
                                -1e-40,
                                1e38,
                                -3e38,
                                16777217.0,
                                4503599627370497.5,
                                1e300,
                                std::numeric_limits<double>::denorm_min(),
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};

static int64_t f32(double value) {
  return std::isnan(value) ? 0x7fc00000 : static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(value)));
}
static int64_t f64(double value) { // there is one NaN
  return std::bit_cast<int64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

/// Of doubles; nothing: of another kind.
static std::optional<double> realReference(fb::RegisterOpcode opcode, double a, double b) {
  const bool anyNan = std::isnan(a) || std::isnan(b);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bool aFirst = a < b || (a == b && std::signbit(a));
  switch (opcode) {
  case FAdd:
    return a + b;
  case FSub:
    return a - b;
  case FMul:
    return a * b;
  case FDiv:
    return a / b;
  case FMin:
    return anyNan ? nan : aFirst ? a : b;
  case FMax:
    return anyNan ? nan : aFirst ? b : a;
  case FMinNum:
    return std::isnan(a) ? b : std::isnan(b) ? a : aFirst ? a : b;
  case FMaxNum:
    return std::isnan(a) ? b : std::isnan(b) ? a : aFirst ? b : a;
  case FSqrt:
    return std::sqrt(a);
  case FFloor:
    return std::floor(a);
  case FCeil:
    return std::ceil(a);
  case FTrunc:
    return std::trunc(a);
  case FRound:
    return std::round(a);
  case FRoundEven:
    return std::nearbyint(a);
  default:
    return std::nullopt;
  }
}

// A result in f64, rounded to f32, is the one in f32: f64 has more than twice its digits. A remainder is exact.
TEST(Arithmetic, FloatsRoundToNearest) {
  for (int number = int(FAdd); number <= int(FConvert); ++number) {
    const auto opcode = fb::RegisterOpcode(number);
    for (double a : kReals)
      for (double b : kReals) {
        const double narrowA = static_cast<float>(a), narrowB = static_cast<float>(b);
        if (std::optional<double> wanted = realReference(opcode, a, b))
          ASSERT_EQ(evaluate(opcode, f64(a), f64(b), 0, 64).value, f64(*wanted))
              << fb::EnumNameRegisterOpcode(opcode) << ' ' << a << ' ' << b;
        if (std::optional<double> wanted = realReference(opcode, narrowA, narrowB))
          ASSERT_EQ(evaluate(opcode, f32(a), f32(b), 0, 32).value, f32(*wanted))
              << fb::EnumNameRegisterOpcode(opcode) << ' ' << narrowA << ' ' << narrowB;
      }
  }
  EXPECT_EQ(evaluate(FRem, f32(-7.5), f32(2), 0, 32).value, f32(-1.5));
  EXPECT_EQ(evaluate(FRem, f64(5), f64(0), 0, 64).value, f64(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Arithmetic, ComparisonsWithNanAreFalse) {
  for (double a : kReals)
    for (double b : kReals) {
      EXPECT_EQ(evaluate(FEq, f64(a), f64(b), 0, 64).value, a == b);
      EXPECT_EQ(evaluate(FLt, f64(a), f64(b), 0, 64).value, a < b);
      EXPECT_EQ(evaluate(FLe, f64(a), f64(b), 0, 64).value, a <= b);
    }
}

TEST(Arithmetic, FloatsBecomeIntegersWhereTheyFit) {
  EXPECT_EQ(evaluate(FToInt, f32(-2.9), 0, 0, 32).value, -2);
  EXPECT_EQ(evaluate(FToInt, f64(-9223372036854775808.0), 0, 0, 64).value, kMin);
  for (double value : {9223372036854775808.0, -9223372036854777856.0, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(evaluate(FToInt, f64(value), 0, 0, 64).fault, ArithmeticFault::NotAnInteger) << value;
  for (int64_t value : kEdges) {
    EXPECT_EQ(evaluate(FFromInt, value, 0, 0, 64).value, f64(static_cast<double>(value)));
    EXPECT_EQ(evaluate(FFromInt, value, 0, 0, 32).value,
              static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(value))));
  }
}

// Around every midpoint of two neighbours: a double just beside it must not be rounded to f32, and then to even.
TEST(Arithmetic, NarrowFloatsAreRoundedOnce) {
  using enum fb::ElementType;
  for (auto [type, read] : {std::pair(F16, &f16ToFloat), std::pair(BF16, &bf16ToFloat)}) {
    const int64_t narrow = conversionOf(F64, type), wide = conversionOf(type, F64);
    const uint16_t infinity = type == F16 ? 0x7c00 : 0x7f80;
    for (uint16_t low = 0; low + 1 < infinity; ++low) {
      const double a = read(low), b = read(static_cast<uint16_t>(low + 1)), middle = a + (b - a) / 2;
      const uint16_t even = low % 2 == 0 ? low : static_cast<uint16_t>(low + 1);
      ASSERT_EQ(evaluate(FConvert, f64(a), 0, 0, narrow).value, low);
      ASSERT_EQ(evaluate(FConvert, low, 0, 0, wide).value, f64(a));
      ASSERT_EQ(evaluate(FConvert, f64(middle), 0, 0, narrow).value, even) << a;
      ASSERT_EQ(evaluate(FConvert, f64(std::nextafter(middle, a)), 0, 0, narrow).value, low) << a;
      ASSERT_EQ(evaluate(FConvert, f64(-std::nextafter(middle, b)), 0, 0, narrow).value, (low + 1) | 0x8000) << a;
    }
    EXPECT_EQ(evaluate(FConvert, f64(1e300), 0, 0, narrow).value, infinity);
    const int64_t nan = evaluate(FConvert, f64(std::numeric_limits<double>::quiet_NaN()), 0, 0, narrow).value;
    EXPECT_TRUE(std::isnan(read(static_cast<uint16_t>(nan))));
  }
}

TEST(Arithmetic, FloatsHaveTheirWidths) {
  using enum fb::ElementType;
  for (int64_t bits : {0, 1, 16, 31, 33, 65, -32})
    EXPECT_EQ(evaluate(FAdd, 0, 0, 0, bits).fault, ArithmeticFault::BadWidth) << bits;
  EXPECT_TRUE(isWidthValid(FConvert, conversionOf(F16, BF16)));
  for (int64_t types : {conversionOf(I32, F32), conversionOf(F32, I64), int64_t(-1), conversionOf(F32, F32) | 1 << 16})
    EXPECT_EQ(evaluate(FConvert, 0, 0, 0, types).fault, ArithmeticFault::BadWidth) << types;
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
