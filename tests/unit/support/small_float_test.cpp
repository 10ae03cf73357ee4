// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace tenon {

TEST(SmallFloat, EveryF16GoesToFloatAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = f16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(value))));
    else
      EXPECT_EQ(floatToF16(value), bits);
  }
}

TEST(SmallFloat, EveryBf16GoesToFloatAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bf16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(value))));
    else
      EXPECT_EQ(floatToBf16(value), bits);
  }
}

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(f16ToFloat(0x3c00), 1.0f);
  EXPECT_EQ(f16ToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(f16ToFloat(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(f16ToFloat(0xfc00), -INFINITY);
  EXPECT_EQ(bf16ToFloat(0x3f80), 1.0f);
}

TEST(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(floatToF16(1.0f + std::ldexp(1.0f, -11)), 0x3c00);                         // halfway: down to even
  EXPECT_EQ(floatToF16(1.0f + 3 * std::ldexp(1.0f, -11)), 0x3c02);                     // halfway: up to even
  EXPECT_EQ(floatToF16(1.0f + std::ldexp(1.0f, -11) + std::ldexp(1.0f, -20)), 0x3c01); // above halfway
  EXPECT_EQ(floatToF16(65519.0f), 0x7bff);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(std::ldexp(1.0f, -25)), 0x0000);
  EXPECT_EQ(floatToF16(std::ldexp(1023.75f, -24)), 0x0400); // the largest subnormal rounds up to a normal number
  EXPECT_EQ(floatToBf16(1.0f + std::ldexp(1.0f, -8)), 0x3f80);
  EXPECT_EQ(floatToBf16(1.0f + 3 * std::ldexp(1.0f, -8)), 0x3f82);
}

TEST(SmallFloat, RoundsADoubleOnce) {
  // Just above the middle of two f16, and of two bf16: the nearest float is the middle, which goes down to even.
  EXPECT_EQ(floatToF16(doubleToOddFloat(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40))), 0x3c01);
  EXPECT_EQ(floatToF16(doubleToOddFloat(1.0 + std::ldexp(3.0, -11) - std::ldexp(1.0, -40))), 0x3c01);
  EXPECT_EQ(floatToBf16(doubleToOddFloat(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40))), 0x3f81);
  for (double value : {0.0, -2.5, 65504.0, 3.4e38, -double(INFINITY)})
    EXPECT_EQ(doubleToOddFloat(static_cast<float>(value)), static_cast<float>(value));
  EXPECT_EQ(floatToBf16(doubleToOddFloat(1e300)), 0x7f80);
  EXPECT_TRUE(std::isnan(doubleToOddFloat(NAN)));
}

// clang's own f16 is the reference: between any two neighbours, the middle and the floats beside it.
TEST(SmallFloat, RoundsToF16AsTheCompilerDoes) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = f16ToFloat(uint16_t(bits));
    EXPECT_EQ(std::bit_cast<uint32_t>(low), std::bit_cast<uint32_t>(float(std::bit_cast<_Float16>(uint16_t(bits)))));
    const float high = bits == 0x7bff ? 65536.0f : f16ToFloat(uint16_t(bits + 1));
    const float middle = low + (high - low) / 2;
    for (float value : {low, std::nextafterf(middle, low), middle, std::nextafterf(middle, high), high})
      for (float sign : {1.0f, -1.0f})
        ASSERT_EQ(floatToF16(sign * value), std::bit_cast<uint16_t>(_Float16(sign * value))) << value;
  }
  for (float value : {1e30f, INFINITY, 1e-30f, 1e-45f, 0.0f})
    for (float sign : {1.0f, -1.0f})
      EXPECT_EQ(floatToF16(sign * value), std::bit_cast<uint16_t>(_Float16(sign * value))) << value;
}

/// The number of `size` (0 to 127) in a format of `mantissa` bits whose smallest normal exponent is `smallest`.
static double smallNumber(uint32_t size, int mantissa, int smallest) {
  const int exponent = int(size >> mantissa);
  const uint32_t rest = size & ((1u << mantissa) - 1);
  return std::ldexp(exponent ? rest + (1u << mantissa) : rest, smallest + std::max(exponent, 1) - 1 - mantissa);
}

// Every number, every middle of two neighbours and the floats beside it, and what is larger than all.
TEST(SmallFloat, RoundsToEightBits) {
  struct Case {
    float (*widen)(uint8_t);
    uint8_t (*narrow)(float);
    int mantissa, smallest;
    uint32_t largest;
  };
  for (const Case &c : {Case{e4m3ToFloat, floatToE4m3, 3, -6, 0x7e}, Case{e5m2ToFloat, floatToE5m2, 2, -14, 0x7b}}) {
    for (uint32_t size = 0; size <= c.largest; ++size) {
      const float low = c.widen(uint8_t(size));
      EXPECT_EQ(double(low), smallNumber(size, c.mantissa, c.smallest));
      EXPECT_EQ(c.widen(uint8_t(size | 0x80)), -low);
      EXPECT_EQ(c.narrow(low), size);
      EXPECT_EQ(c.narrow(-low), size | 0x80);
      if (size == c.largest)
        break;
      const float high = c.widen(uint8_t(size + 1)), middle = low + (high - low) / 2;
      EXPECT_EQ(c.narrow(middle), size + (size & 1)) << middle;
      EXPECT_EQ(c.narrow(std::nextafterf(middle, low)), size) << middle;
      EXPECT_EQ(c.narrow(std::nextafterf(middle, high)), size + 1) << middle;
    }
    for (float value : {c.widen(uint8_t(c.largest)) * 1.5f, 1e30f, INFINITY})
      EXPECT_EQ(c.narrow(value), c.largest);
    EXPECT_EQ(c.narrow(NAN), 0x7f);
    EXPECT_EQ(c.narrow(-NAN), 0x7f);
    EXPECT_EQ(c.narrow(1e-40f), 0);
  }
  EXPECT_TRUE(std::isnan(e4m3ToFloat(0x7f)) && std::isnan(e4m3ToFloat(0xff)) && std::isnan(e5m2ToFloat(0x7d)));
  EXPECT_EQ(e5m2ToFloat(0x7c), INFINITY);
}

TEST(SmallFloat, KnownValuesOfEightBits) {
  struct Value {
    float value;
    uint8_t e4m3, e5m2;
  };
  const Value cases[] = {{0.0f, 0, 0},
                         {-0.0f, 0x80, 0x80},
                         {1.0f, 0x38, 0x3c},
                         {-1.0f, 0xb8, 0xbc},
                         {448.0f, 0x7e, 0x5f},
                         {464.0f, 0x7e, 0x5f},
                         {1e9f, 0x7e, 0x7b},
                         {-INFINITY, 0xfe, 0xfb},
                         {NAN, 0x7f, 0x7f},
                         {1.0625f, 0x38, 0x3c},    // a tie of e4m3: to even
                         {1.1875f, 0x3a, 0x3d},    // another, upward; above the tie of e5m2
                         {1.125f, 0x39, 0x3c},     // a tie of e5m2: to even
                         {0x1p-9f, 0x01, 0x18},    // the smallest subnormal of e4m3
                         {0x1p-10f, 0x00, 0x14},   // half of it: to even
                         {0x1.8p-10f, 0x01, 0x16}, //
                         {0x1p-16f, 0x00, 0x01},   // the smallest of e5m2
                         {57344.0f, 0x7e, 0x7b},   // the largest of e5m2
                         {0x1.fp-7f, 0x08, 0x24},  // rounds up into the normal numbers
                         {65536.0f * 65536 * 4, 0x7e, 0x7b}};
  for (const Value &c : cases) {
    EXPECT_EQ(floatToE4m3(c.value), c.e4m3) << c.value;
    EXPECT_EQ(floatToE5m2(c.value), c.e5m2) << c.value;
  }
}

} // namespace tenon
