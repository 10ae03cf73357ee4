// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/words/characters.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::ptx {
namespace {

/// A word at any distance from the end of its text: near it, the short way is not taken.
TEST(PtxCharacters, WordsEndWhereTheTableSays) {
  for (size_t behind : {0, 1, 15, 16, 17, 40})
    for (int c = 1; c < 256; ++c) {
      const std::string text = "%rd12" + std::string(1, char(c)) + std::string(behind, '#');
      const char *p = text.c_str(), *end = p + text.size();
      const size_t length = is(char(c), kWord) ? 6 : 5;
      size_t digits = 9;
      EXPECT_EQ(wordEnd(p + 1, end), p + length) << c;
      EXPECT_EQ(wordEnd(p, end, digits), p + length) << c;
      EXPECT_EQ(digits, is(char(c), kDigit) ? 3u : length == 6 ? 0u : 2u) << c;
      const size_t spelling = c <= ' ' || c == ';' || c >= 0x80 ? 5 : text.size();
      EXPECT_EQ(spellingEnd(p + 1, end), p + spelling) << c;
    }
}

TEST(PtxCharacters, LongWordsEndToo) {
  for (size_t size = 1; size < 70; ++size) {
    const std::string text = std::string(size, 'a') + "7;" + std::string(20, ' ');
    size_t digits = 0;
    EXPECT_EQ(wordEnd(text.data(), text.data() + text.size(), digits), text.data() + size + 1);
    EXPECT_EQ(digits, 1u);
    EXPECT_EQ(spellingEnd(text.data(), text.data() + text.size()), text.data() + size + 1);
  }
}

TEST(PtxCharacters, NumbersAreReadFromTheirEnd) {
  const std::string text = "%%%%%%%%12345678";
  uint32_t expected = 0, scale = 1;
  for (size_t digits = 1; digits <= 8; ++digits, scale *= 10) {
    expected += scale * static_cast<uint32_t>(9 - digits);
    EXPECT_EQ(numberBefore(text.data() + text.size(), digits), expected);
  }
}

TEST(PtxCharacters, ShortNamesAreWhatTheLongWaySays) {
  const std::string_view parts[] = {"", "r", "rd", "r_", "abc", "1", "12", "01", "99999", "123456", "x", ".", ",", "%"};
  for (std::string_view stem : parts)
    for (std::string_view digits : parts)
      for (int c = 1; c < 256; ++c) {
        const std::string text =
            "........%" + std::string(stem) + std::string(digits) + char(c) + std::string(20, '\n');
        const char *p = text.data() + 8;
        size_t count = 0;
        const char *end = wordEnd(p, text.data() + text.size(), count);
        const ShortName name = shortNameAt(p);
        if (name.size == 0)
          continue;
        EXPECT_EQ(p + name.size, end) << text;
        EXPECT_EQ(name.size - name.stemSize, count) << text;
        EXPECT_EQ(name.number, numberBefore(end, count)) << text;
      }
  const ShortName name = shortNameAt("%rd1234;");
  EXPECT_EQ(name.size, 7u);
  EXPECT_EQ(name.stemSize, 3u);
  EXPECT_EQ(name.number, 1234u);
  EXPECT_EQ(shortNameAt("%rd12345").size, 0u);
}

} // namespace
} // namespace tenon::ptx
