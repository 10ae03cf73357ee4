// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over the bytes, a table of character classes and a switch. The text is followed by a NUL, which is in no
// class, so the inner loops need no bounds checks; one inside the text ends it where it is met.
#include "ptx/words/lexer.h"

#include "ptx/words/characters.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace tenon::ptx {
namespace {

/// Value of a hexadecimal digit.
unsigned digitValue(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

} // namespace

Lexer::Lexer(const SourceFile &source, Reporter &reporter) : reporter_(reporter) {
  std::string_view text = source.text();
  base_ = text.data();
  end_ = base_ + text.size();
  cursor_ = lineStart_ = base_;
}

bool Lexer::followedBy(char c) const {
  return *skipClass(cursor_, kBlank) == c;
}

bool Lexer::followedByName() const {
  const char *p = skipClass(cursor_, kBlank);
  return is(*p, kWordStart) && std::string_view(p, skipClass(p + 1, kWord) - p) != "WARP_SZ";
}

std::string_view Lexer::stringText(const Token &token) const {
  std::string_view text = spelling(token).substr(1);
  if (!text.empty() && text.back() == '"')
    text.remove_suffix(1);
  return text;
}

void Lexer::next(Token &token) {
  token.kind = TokenKind::End;
  token.isUnsigned = false;
  token.bits = 0;
  for (;;) {
    skipBlanks();
    token.begin = static_cast<uint32_t>(cursor_ - base_);
    token.line = line_;
    token.column = static_cast<uint32_t>(cursor_ - lineStart_) + 1;
    char c = *cursor_;
    if (is(c, kWordStart) && (c != '%' || is(cursor_[1], kWord))) {
      lexWord(token);
      break;
    }
    if (c == '.' ? lexDotted(token) : lexPunctuation(token))
      break;
    if (is(c, kDigit)) {
      lexNumber(token);
      break;
    }
    if (c == '"') {
      lexString(token);
      break;
    }
    if (c == '\0')
      break;
    skipUnknown(token);
  }
  token.end = static_cast<uint32_t>(cursor_ - base_);
  if (reporter_.full()) {
    cursor_ = end_;
    token.kind = TokenKind::End;
  }
}

void Lexer::skipBlanks() {
  for (;;) {
    char c = *cursor_;
    if (c == '\n') {
      ++line_;
      lineStart_ = ++cursor_;
    } else if (is(c, kBlank)) {
      ++cursor_;
    } else if (c == '/' && cursor_[1] == '/') {
      cursor_ = lineCommentEnd(cursor_, end_);
    } else if (c == '/' && cursor_[1] == '*') {
      if (!skipBlockComment())
        return;
    } else {
      return;
    }
  }
}

bool Lexer::skipBlockComment() {
  std::string_view rest(cursor_, end_ - cursor_);
  size_t close = rest.find("*/", 2);
  if (const void *nul = std::memchr(cursor_, '\0', std::min(close, rest.size()))) {
    end_ = static_cast<const char *>(nul);
    close = std::string_view::npos;
  }
  if (close == std::string_view::npos) {
    reporter_.error(line_, static_cast<uint32_t>(cursor_ - lineStart_) + 1, "P-2",
                    "comment is not closed before the end of the file", "write '*/' where the comment ends");
    cursor_ = end_;
    return false;
  }
  std::string_view comment = rest.substr(0, close + 2);
  for (size_t at = comment.find('\n'); at != std::string_view::npos; at = comment.find('\n', at + 1)) {
    ++line_;
    lineStart_ = cursor_ + at + 1;
  }
  cursor_ += comment.size();
  return true;
}

void Lexer::lexWord(Token &token) {
  token.kind = TokenKind::Identifier;
  cursor_ = wordEnd(cursor_ + 1, end_);
}

/// `.word`, `.2d`, `.L2::128B`. False, with nothing consumed, for a dot that begins no word.
bool Lexer::lexDotted(Token &token) {
  if (!is(cursor_[1], kWord))
    return false;
  token.kind = TokenKind::Dotted;
  cursor_ = dottedEnd(cursor_, end_);
  return true;
}

/// No escapes: PTX has none, and paths hold backslashes.
void Lexer::lexString(Token &token) {
  token.kind = TokenKind::String;
  ++cursor_;
  while (*cursor_ != '"' && *cursor_ != '\n' && *cursor_ != '\0')
    ++cursor_;
  if (*cursor_ == '"')
    ++cursor_;
  else
    reporter_.error(token, "P-2", "string is not closed before the end of its line",
                    "write '\"' where the string ends");
}

Token Lexer::relexAsFloat(Token token) {
  cursor_ = base_ + token.begin;
  lexDecimalFloat(token);
  token.end = static_cast<uint32_t>(cursor_ - base_);
  return token;
}

void Lexer::lexNumber(Token &token) {
  const char *p = cursor_;
  if (p[0] == '0') {
    switch (p[1]) {
    case 'x':
    case 'X':
      return lexInteger(token, p + 2, 16);
    case 'b':
    case 'B':
      return lexInteger(token, p + 2, 2);
    case 'f':
    case 'F':
      return lexBitFloat(token, 8, TokenKind::Float32);
    case 'd':
    case 'D':
      return lexBitFloat(token, 16, TokenKind::Float64);
    default:
      break;
    }
  }
  const char *q = skipClass(p, kDigit);
  if (*q == '.' || *q == 'e' || *q == 'E')
    return lexDecimalFloat(token);
  lexInteger(token, p, p[0] == '0' && q - p > 1 ? 8 : 10);
}

void Lexer::lexInteger(Token &token, const char *digits, unsigned radix) {
  token.kind = TokenKind::Integer;
  const char *p = digits;
  bool wide = false;
  uint64_t value = 0;
  for (; is(*p, radix == 16 ? kHexDigit : kDigit) && digitValue(*p) < radix; ++p)
    wide |= __builtin_mul_overflow(value, radix, &value) || __builtin_add_overflow(value, digitValue(*p), &value);
  bool empty = p == digits;
  bool suffixed = *p == 'U' && !is(p[1], kWord);
  p += suffixed;
  cursor_ = skipClass(p, kWord);
  token.bits = value;
  token.isUnsigned = suffixed || value > INT64_MAX;
  if (cursor_ != p || empty)
    badNumber(token, radix == 8 ? "is no number: a leading 0 means octal digits, 0 to 7" : "is no number",
              "write 12, 0x1f, 017 or 0b101, with an optional U; a name starts with a letter, '_', '$' or '%'");
  else if (wide)
    badNumber(token, "does not fit in 64 bits", "constants go from -2^63 to 2^64 - 1");
}

void Lexer::lexBitFloat(Token &token, unsigned digitCount, TokenKind kind) {
  token.kind = kind;
  const char *digits = cursor_ + 2;
  const char *end = skipClass(digits, kHexDigit);
  cursor_ = skipClass(end, kWord);
  if (cursor_ != end || end - digits != digitCount) {
    badNumber(token,
              kind == TokenKind::Float32 ? "is no number: 0f takes 8 hexadecimal digits"
                                         : "is no number: 0d takes 16 hexadecimal digits",
              "write 1.0 as 0f3F800000 or 0d3FF0000000000000");
    return;
  }
  for (const char *p = digits; p != end; ++p)
    token.bits = token.bits << 4 | digitValue(*p);
}

void Lexer::lexDecimalFloat(Token &token) {
  token.kind = TokenKind::Float64;
  double value = 0;
  auto [end, error] = std::from_chars(cursor_, end_, value);
  cursor_ = skipClass(end, kWord);
  token.bits = std::bit_cast<uint64_t>(value);
  if (cursor_ != end)
    badNumber(token, "is no number", "write 1.5 or 1.5e-3");
  else if (error == std::errc::result_out_of_range)
    badNumber(token, "does not fit in a double", "write the bits: 0d and 16 hexadecimal digits");
}

/// Reports; the token stays a number, so that the parser goes on.
void Lexer::badNumber(const Token &token, std::string_view why, std::string fix) {
  std::string_view text(base_ + token.begin, cursor_ - base_ - token.begin);
  reporter_.error(token, "P-3", quoteText(text) + " " + std::string(why), std::move(fix));
}

bool Lexer::lexPunctuation(Token &token) {
  auto take = [&](TokenKind kind, unsigned length = 1) {
    token.kind = kind;
    cursor_ += length;
    return true;
  };
  char second = cursor_[0] ? cursor_[1] : 0;
  switch (*cursor_) {
  case ',':
    return take(TokenKind::Comma);
  case ';':
    return take(TokenKind::Semicolon);
  case ':':
    return take(TokenKind::Colon);
  case '(':
    return take(TokenKind::LeftParen);
  case ')':
    return take(TokenKind::RightParen);
  case '[':
    return take(TokenKind::LeftBracket);
  case ']':
    return take(TokenKind::RightBracket);
  case '{':
    return take(TokenKind::LeftBrace);
  case '}':
    return take(TokenKind::RightBrace);
  case '+':
    return take(TokenKind::Plus);
  case '-':
    return take(TokenKind::Minus);
  case '*':
    return take(TokenKind::Star);
  case '/':
    return take(TokenKind::Slash);
  case '%':
    return take(TokenKind::Percent);
  case '~':
    return take(TokenKind::Tilde);
  case '^':
    return take(TokenKind::Caret);
  case '?':
    return take(TokenKind::Question);
  case '@':
    return take(TokenKind::At);
  case '<':
    return second == '<'   ? take(TokenKind::ShiftLeft, 2)
           : second == '=' ? take(TokenKind::LessEqual, 2)
                           : take(TokenKind::Less);
  case '>':
    return second == '>'   ? take(TokenKind::ShiftRight, 2)
           : second == '=' ? take(TokenKind::GreaterEqual, 2)
                           : take(TokenKind::Greater);
  case '!':
    return second == '=' ? take(TokenKind::ExclaimEqual, 2) : take(TokenKind::Exclaim);
  case '=':
    return second == '=' ? take(TokenKind::EqualEqual, 2) : take(TokenKind::Equal);
  case '|':
    return second == '|' ? take(TokenKind::PipePipe, 2) : take(TokenKind::Pipe);
  case '&':
    return second == '&' ? take(TokenKind::AmpersandAmpersand, 2) : take(TokenKind::Ampersand);
  default:
    return false;
  }
}

/// Reports a run of bytes that begin no token and skips it; of a preprocessor line, all.
void Lexer::skipUnknown(const Token &token) {
  const char *begin = cursor_;
  auto unknown = [](char c) {
    return !is(c, kBlank | kWordStart | kWord) && !std::strchr(".,;:()[]{}+-*/~^?@<>!=|&\"", c);
  };
  do
    ++cursor_;
  while (cursor_ < end_ && unknown(*cursor_));
  std::string_view text(begin, cursor_ - begin);
  std::string fix;
  auto first = static_cast<unsigned char>(text.front());
  if (first == '#')
    fix = "PTX has no preprocessor: expand '#' lines before";
  else if (first >= 0x80 || first < 0x20)
    fix = "PTX is ASCII text; is this a cubin, a fatbin or UTF-16?";
  reporter_.error(token, "P-1", quoteText(text) + " begins no word of PTX", std::move(fix));
  while (first == '#' && *cursor_ != '\0' && *cursor_ != '\n')
    ++cursor_;
}

} // namespace tenon::ptx
