// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/number.h"
#include "support/text/text.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Text, TrimsBothEndsOnly) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n\t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(jsonString("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\u000ad\\u0001\"");
  EXPECT_EQ(jsonString("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(jsonString(""), "\"\"");
}

TEST(Text, WritesNumbersInSixDigits) {
  EXPECT_EQ(numberText(0), "0");
  EXPECT_EQ(numberText(1e-4f), "0.0001");
  EXPECT_EQ(numberText(1e20), "1e+20");
}

TEST(Text, WritesHexadecimalNumbers) {
  EXPECT_EQ(hexText(0), "0x0");
  EXPECT_EQ(hexText(~uint64_t(0)), "0xffffffffffffffff");
}

} // namespace
} // namespace tenon
