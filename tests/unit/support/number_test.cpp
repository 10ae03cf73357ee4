// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/number.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Number, ParsesAWholeWordOrNothing) {
  EXPECT_EQ(parseNumber<uint32_t>("12"), 12u);
  EXPECT_EQ(parseNumber<int>("-3"), -3);
  EXPECT_EQ(parseNumber<uint64_t>("ff", 16), 255u);
  for (const char *wrong : {"", "4x", " 4", "4 ", "+4", "-4", "0x4", "4294967296"})
    EXPECT_EQ(parseNumber<uint32_t>(wrong), std::nullopt) << wrong;
}

TEST(Number, TakesANumberOffTheFront) {
  std::string_view text = "12x";
  EXPECT_EQ(takeNumber<uint32_t>(text), 12u);
  EXPECT_EQ(text, "x");
  EXPECT_EQ(takeNumber<uint32_t>(text), std::nullopt);
  EXPECT_EQ(text, "x");
}

TEST(Number, ParsesFloatingPointAsCWritesIt) {
  EXPECT_EQ(parseDouble("0x1p3"), 8.0);
  EXPECT_EQ(parseDouble("1e-3"), 1e-3);
  EXPECT_TRUE(std::isinf(*parseDouble("-inf")));
  EXPECT_TRUE(std::isnan(*parseDouble("nan")));
  EXPECT_TRUE(std::isinf(*parseDouble("1e999")));
  EXPECT_EQ(parseFloat("0.1"), 0.1f);
  for (const char *wrong : {"", "1x", "x", " 1"})
    EXPECT_EQ(parseDouble(wrong), std::nullopt) << wrong;
}

TEST(Number, Prints) {
  EXPECT_EQ(numberText(0.0001), "0.0001");
  EXPECT_EQ(numberText(1e20), "1e+20");
  EXPECT_EQ(hexText(0x1f00), "0x1f00");
}

} // namespace
} // namespace tenon
