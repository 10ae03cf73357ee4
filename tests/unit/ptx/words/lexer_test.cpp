// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/words/lexer.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace tenon::ptx {
namespace {
using namespace test;

struct Lexed {
  std::vector<Token> tokens; // without End
  std::vector<std::string> words;
  std::string errors;
};

Lexed lex(std::string text) {
  SourceFile source("k.ptx", std::move(text));
  Diagnostics diagnostics;
  Reporter reporter(source, diagnostics);
  Lexer lexer(source, reporter);
  Lexed lexed;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    lexed.tokens.push_back(token);
    lexed.words.emplace_back(lexer.spelling(token));
  }
  lexed.errors = diagnostics.toString();
  return lexed;
}

using Words = std::vector<std::string>;

TEST(PtxLexer, SplitsAnInstructionAtItsDots) {
  EXPECT_EQ(lex("ld.global.L2::128B.v4.f32 {%f1,_}, [%rd1+-8];").words,
            (Words{"ld", ".global", ".L2::128B", ".v4", ".f32", "{", "%f1", ",", "_", "}", ",", "[", "%rd1", "+", "-",
                   "8", "]", ";"}));
}

TEST(PtxLexer, LetsDottedWordsStartWithDigitsAndHoldDoubleColons) {
  EXPECT_EQ(lex(".2d.m64n256k16.mbarrier::complete_tx::bytes").words,
            (Words{".2d", ".m64n256k16", ".mbarrier::complete_tx::bytes"}));
  EXPECT_EQ(lex("label:.reg").words, (Words{"label", ":", ".reg"}));
}

TEST(PtxLexer, TakesDollarAndPercentInNames) {
  EXPECT_EQ(lex("$L__BB0_2 %r1 a$b _ZN4_$_E %tid.x").words,
            (Words{"$L__BB0_2", "%r1", "a$b", "_ZN4_$_E", "%tid", ".x"}));
  EXPECT_EQ(lex("5 % 3").words, (Words{"5", "%", "3"}));
}

TEST(PtxLexer, ReadsIntegersOfEveryRadix) {
  Lexed lexed = lex("0 42 0x1F 0X1fU 017 0b101 18446744073709551615 7U");
  EXPECT_EQ(lexed.errors, "");
  std::vector<uint64_t> values;
  for (const Token &token : lexed.tokens) {
    EXPECT_EQ(token.kind, TokenKind::Integer);
    values.push_back(token.bits);
  }
  EXPECT_EQ(values, (std::vector<uint64_t>{0, 42, 31, 31, 15, 5, UINT64_MAX, 7}));
  EXPECT_FALSE(lexed.tokens[1].isUnsigned);
  EXPECT_TRUE(lexed.tokens[6].isUnsigned);
  EXPECT_TRUE(lexed.tokens[7].isUnsigned);
}

TEST(PtxLexer, ReadsFloatsByTheirBitsAndAsDecimals) {
  Lexed lexed = lex("0f3F800000 0F3f800000 0dBFF8000000000000 1.5 1. 2e3 1.5e-3 1.E+2");
  EXPECT_EQ(lexed.errors, "");
  ASSERT_EQ(lexed.tokens.size(), 8u);
  EXPECT_EQ(lexed.tokens[0].kind, TokenKind::Float32);
  EXPECT_EQ(lexed.tokens[0].bits, 0x3f800000u);
  EXPECT_EQ(lexed.tokens[1].bits, 0x3f800000u);
  const double doubles[] = {-1.5, 1.5, 1.0, 2000.0, 0.0015, 100.0};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(lexed.tokens[2 + i].kind, TokenKind::Float64);
    EXPECT_EQ(std::bit_cast<double>(lexed.tokens[2 + i].bits), doubles[i]);
  }
}

TEST(PtxLexer, SkipsCommentsAndCountsLinesAndColumns) {
  Lexed lexed = lex("// one\r\n/* two\n three */ add\r\n\tret;");
  ASSERT_EQ(lexed.tokens.size(), 3u);
  EXPECT_EQ(lexed.tokens[0].line, 3u);
  EXPECT_EQ(lexed.tokens[0].column, 11u);
  EXPECT_EQ(lexed.tokens[1].line, 4u);
  EXPECT_EQ(lexed.tokens[1].column, 2u);
  EXPECT_EQ(lex("a /**/ b /***/ c // d").words, (Words{"a", "b", "c"}));
}

TEST(PtxLexer, EndsAtTheFirstNul) {
  EXPECT_EQ(lex(std::string("ret;\0garbage \"", 14)).words, (Words{"ret", ";"}));
  EXPECT_EQ(lex("").words, Words{});
  EXPECT_EQ(lex(std::string("\0", 1)).words, Words{});
  EXPECT_EQ(lex(std::string("a // b\0 c\nd", 11)).words, Words{"a"});
  EXPECT_EQ(lex(std::string("# a\0\nd", 7)).words, Words{});
}

TEST(PtxLexer, EndsAtTheFirstNulInWhatIsNotClosed) {
  Lexed comment = lex(std::string("a /* b\0 */ c", 13));
  EXPECT_EQ(comment.words, Words{"a"});
  EXPECT_NE(comment.errors.find("comment is not closed"), std::string::npos) << comment.errors;
  Lexed string = lex(std::string("a \"b\0\" c", 9));
  EXPECT_EQ(string.words, (Words{"a", "\"b"}));
  EXPECT_NE(string.errors.find("string is not closed"), std::string::npos) << string.errors;
}

TEST(PtxLexer, KeepsBackslashesInStrings) {
  EXPECT_EQ(lex("\"C:\\dir\\\" x").words, (Words{"\"C:\\dir\\\"", "x"}));
}

TEST(PtxLexer, JoinsTwoCharacterOperators) {
  EXPECT_EQ(lex("<<>><=>===!=&&||<>=!&|^~?@").words,
            (Words{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">=", "!", "&", "|", "^", "~", "?", "@"}));
}

TEST(PtxLexer, ReportsARunOfUnknownBytesOnce) {
  Lexed lexed = lex("add \x7f\x45LF\\\\' ret");
  EXPECT_EQ(lexed.words, (Words{"add", "ELF", "ret"}));
  EXPECT_EQ(lexed.errors, "k.ptx:1:5: error: [P-1] '\\x7f' begins no word of PTX\n"
                          "k.ptx:1:9: error: [P-1] '\\\\'' begins no word of PTX\n");
  EXPECT_EQ(lex("\xc3\xa9").errors, "k.ptx:1:1: error: [P-1] '\\xc3\\xa9' begins no word of PTX\n"
                                    "fix: PTX is ASCII text; is this a cubin, a fatbin or UTF-16?\n");
}

TEST(PtxLexer, ReportsEveryErrorOfAModule) {
  const ErrorCase cases[] = {
      {R"(.global .u32 x = 1; # define y)", "k.ptx:4:21: error: [P-1] '#' begins no word of PTX\n"
                                            "fix: PTX has no preprocessor: expand '#' lines before\n"},
      {R"(.global .u32 x = 1 /* comment)", "k.ptx:4:20: error: [P-2] comment is not closed before the end of the file\n"
                                           "fix: write '*/' where the comment ends\n"
                                           "k.ptx:4:19: error: [P-4] found the end of the file, expected ';'\n"
                                           "fix: end the statement with ';'\n"},
      {R"(.file 1 "abc)", "k.ptx:4:9: error: [P-2] string is not closed before the end of its line\n"
                          "fix: write '\"' where the string ends\n"},
      {R"(.global .u32 x = 12abc;)",
       "k.ptx:4:18: error: [P-3] '12abc' is no number\n"
       "fix: write 12, 0x1f, 017 or 0b101, with an optional U; a name starts with a letter, '_', '$' or '%'\n"},
      {R"(.global .u32 x = 08;)",
       "k.ptx:4:18: error: [P-3] '08' is no number: a leading 0 means octal digits, 0 to 7\n"
       "fix: write 12, 0x1f, 017 or 0b101, with an optional U; a name starts with a letter, '_', '$' or '%'\n"},
      {R"(.global .u32 x = 0x;)",
       "k.ptx:4:18: error: [P-3] '0x' is no number\n"
       "fix: write 12, 0x1f, 017 or 0b101, with an optional U; a name starts with a letter, '_', '$' or '%'\n"},
      {R"(.global .u32 x = 99999999999999999999;)",
       "k.ptx:4:18: error: [P-3] '99999999999999999999' does not fit in 64 bits\n"
       "fix: constants go from -2^63 to 2^64 - 1\n"},
      {R"(.global .f32 x = 0f3F80;)", "k.ptx:4:18: error: [P-3] '0f3F80' is no number: 0f takes 8 hexadecimal digits\n"
                                      "fix: write 1.0 as 0f3F800000 or 0d3FF0000000000000\n"},
      {R"(.global .f64 x = 0d3FF00000000000001;)",
       "k.ptx:4:18: error: [P-3] '0d3FF00000000000001' is no number: 0d takes 16 hexadecimal digits\n"
       "fix: write 1.0 as 0f3F800000 or 0d3FF0000000000000\n"},
      {R"(.global .f64 x = 1.5e;)", "k.ptx:4:18: error: [P-3] '1.5e' is no number\n"
                                    "fix: write 1.5 or 1.5e-3\n"},
      {R"(.global .f64 x = 1e999;)", "k.ptx:4:18: error: [P-3] '1e999' does not fit in a double\n"
                                     "fix: write the bits: 0d and 16 hexadecimal digits\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(moduleErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
