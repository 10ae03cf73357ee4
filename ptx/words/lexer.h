// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> tokens, one at a time. Blanks, `//` and `/* */` comments and line ends (LF, CR LF) vanish here; the first
// NUL byte ends the text. What cannot be a token is reported (P-1 .. P-3) and skipped, so the parser never sees it.
//
// Specification: PTX ISA 9.0, "Syntax". Identifiers: [a-zA-Z_$%][a-zA-Z0-9_$]*; integers 0x, 0b, 0 (octal), decimal,
// each with an optional U; floats 0f + 8 hex digits, 0d + 16, or decimal with a point or an exponent.
#pragma once

#include "ptx/words/reporter.h"
#include "ptx/words/token.h"

#include <string_view>

namespace tenon::ptx {

class Lexer {
public:
  /// `source` must outlive the lexer and be shorter than 4 GiB.
  Lexer(const SourceFile &source, Reporter &reporter);

  /// Puts the next token into `token`; End for ever once the text, or the patience of the reporter, is at its end.
  void next(Token &token);
  Token next() {
    Token token;
    next(token);
    return token;
  }
  /// The spelling of a token, as written.
  std::string_view spelling(const Token &token) const { return {base_ + token.begin, token.end - token.begin}; }
  /// The word of a Dotted token, without its dot; the contents of a String, without its quotes; else the spelling.
  std::string_view text(const Token &token) const {
    if (token.kind == TokenKind::Dotted)
      return {base_ + token.begin + 1, token.end - token.begin - 1};
    if (token.kind == TokenKind::String)
      return stringText(token);
    return spelling(token);
  }
  /// Reads the last token, a Dotted one of digits, again as the float it is where an operand stands: `.5`, `.25e-3`.
  Token relexAsFloat(Token token);
  /// Whether the next character after the last token, blanks aside, is `c`.
  bool followedBy(char c) const;
  /// Whether a name (other than WARP_SZ) follows the last token, blanks aside.
  bool followedByName() const;
  const char *textBegin() const { return base_; }
  /// Where the text ends, if no NUL ends it before; the byte there is NUL.
  const char *textEnd() const { return end_; }
  /// The text of `token` and all behind it, for a reader of its own (parse_simple.cpp), and the place of its line.
  const char *pointerTo(const Token &token) const { return base_ + token.begin; }
  uint32_t offsetOf(const char *p) const { return static_cast<uint32_t>(p - base_); }
  /// Goes on at `cursor`, which stands in line `line` that begins at `lineStart`.
  void moveTo(const char *cursor, uint32_t line, const char *lineStart) {
    cursor_ = cursor;
    line_ = line;
    lineStart_ = lineStart;
  }
  /// The text [begin, end).
  std::string_view slice(uint32_t begin, uint32_t end) const { return {base_ + begin, end - begin}; }

private:
  std::string_view stringText(const Token &token) const;
  void skipBlanks();
  bool skipBlockComment();
  void lexWord(Token &token);
  bool lexDotted(Token &token);
  void lexString(Token &token);
  void lexNumber(Token &token);
  void lexInteger(Token &token, const char *digits, unsigned radix);
  void lexBitFloat(Token &token, unsigned digitCount, TokenKind kind);
  void lexDecimalFloat(Token &token);
  bool lexPunctuation(Token &token);
  void skipUnknown(const Token &token);
  void badNumber(const Token &token, std::string_view why, std::string fix);

  Reporter &reporter_;
  const char *base_;
  const char *end_;
  const char *cursor_;
  const char *lineStart_;
  uint32_t line_ = 1;
};

} // namespace tenon::ptx
