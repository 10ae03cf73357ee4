// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/symbol/word_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::linker {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  WordScanner scanner(text);
  for (Word word = scanner.next(); !word.text.empty(); word = scanner.next()) {
    EXPECT_EQ(text.substr(word.begin, word.text.size()), word.text);
    result.emplace_back(word.text);
  }
  return result;
}

using Words = std::vector<std::string>;

TEST(WordScanner, SplitsAsPtxDoes) {
  EXPECT_EQ(words("@!%p1 ld.global.f32 %f1, [$str+4];"),
            (Words{"@", "!", "%p1", "ld", ".global", ".f32", "%f1", ",", "[", "$str", "+", "4", "]", ";"}));
  EXPECT_EQ(words(".version 8.0"), (Words{".version", "8", ".0"}));
}

TEST(WordScanner, PassesOverCommentsAndKeepsStringsWhole) {
  EXPECT_EQ(words("a // b\n/* c\n */ d .file 1 \"e f.cu\""), (Words{"a", "d", ".file", "1", "\"e f.cu\""}));
}

TEST(WordScanner, EndsWithTheText) {
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words("/* open"), Words{});
  EXPECT_EQ(words("/*/"), Words{});
  EXPECT_EQ(words("// open"), Words{});
  EXPECT_EQ(words("\"open"), Words{"\"open"});
}

} // namespace
} // namespace tenon::linker
