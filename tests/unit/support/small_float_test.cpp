// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/small_float.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tenon::runtime {

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

} // namespace tenon::runtime
