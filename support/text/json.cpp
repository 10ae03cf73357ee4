// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/text/json.h"

#include "support/status.h"
#include "support/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenon {
namespace {

bool isIn(char c, char low, char high) {
  return low <= c && c <= high;
}
bool isDigit(char c) {
  return isIn(c, '0', '9');
}
bool isWordStart(char c) {
  return isIn(c, 'a', 'z') || isIn(c, 'A', 'Z') || c == '_';
}
bool isWordPart(char c) {
  return isWordStart(c) || isDigit(c);
}

/// Characters that stand for themselves in a string, whatever its quotes.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain = {};
  for (unsigned c = 0x20; c < 0x80; ++c)
    plain[c] = c != '"' && c != '\'' && c != '\\';
  return plain;
}();

/// Bytes of the UTF-8 sequence at the front of `text` (RFC 3629); 0: there is none.
size_t utf8Bytes(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const auto isTail = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xbf) { return at(i) >= low && at(i) <= high; };
  const uint8_t lead = at(0);
  if (lead < 0x80)
    return text.empty() ? 0 : 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return isTail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) // not too long, no surrogate
    return isTail(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && isTail(2) ? 3 : 0;
  if (lead >= 0xf0 && lead <= 0xf4)
    return isTail(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && isTail(2) && isTail(3) ? 4 : 0;
  return 0;
}

void appendUtf8(std::string &out, uint32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

} // namespace

JsonReader::JsonReader(std::string_view text) : begin_(text.data()), next_(begin_), end_(begin_ + text.size()) {
  if (text.starts_with("\xef\xbb\xbf")) // a byte order mark
    next_ += 3;
}

void JsonReader::fail(size_t offset, std::string message) {
  if (mistake_)
    return;
  mistake_ = {offset, std::move(message)};
  next_ = end_;
}

void JsonReader::failExpecting(std::string_view what) {
  if (mistake_)
    return;
  const size_t at = offset();
  fail(at, concat("expected ", what, ", found ", found()));
}

/// What comes next, in words.
std::string JsonReader::found() {
  switch (next()) {
  case Next::Object:
    return "'{'";
  case Next::Array:
    return "'['";
  case Next::String:
    return "a string";
  case Next::Number:
    return "a number";
  case Next::Word: {
    const char *end = std::find_if_not(next_, end_, isWordPart);
    return concat('\'', std::string_view(next_, static_cast<size_t>(end - next_)), '\'');
  }
  case Next::Other:
    break;
  }
  if (next_ == end_)
    return "the end";
  return kPlain[static_cast<uint8_t>(*next_)] ? concat('\'', *next_, '\'')
                                              : concat("the byte ", unsigned(static_cast<uint8_t>(*next_)));
}

JsonReader::Next JsonReader::next() {
  skipBlanks();
  if (next_ == end_)
    return Next::Other;
  const char c = *next_;
  if (c == '"' || c == '\'')
    return Next::String;
  if (c == '{')
    return Next::Object;
  if (c == '[')
    return Next::Array;
  if (isDigit(c) || c == '-')
    return Next::Number;
  return isWordStart(c) ? Next::Word : Next::Other;
}

void JsonReader::skipComments() {
  while (next_ != end_ && *next_ == '/') {
    const std::string_view rest(next_, static_cast<size_t>(end_ - next_));
    size_t length = 0;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t close = rest.find("*/", 2);
      if (close == std::string_view::npos)
        return fail(static_cast<size_t>(next_ - begin_), "the comment does not end");
      length = close + 2;
    } else {
      return; // no comment: whoever reads on says so
    }
    next_ += length;
    while (next_ != end_ && isBlank(*next_))
      ++next_;
  }
}

std::string_view JsonReader::word() {
  const char *begin = next_;
  next_ = std::find_if_not(next_, end_, isWordPart);
  return {begin, static_cast<size_t>(next_ - begin)};
}

std::string_view JsonReader::string() {
  if (next() != Next::String) {
    failExpecting("a string");
    return {};
  }
  const char quote = *next_++;
  const char *begin = next_;
  while (next_ != end_ && kPlain[static_cast<uint8_t>(*next_)])
    ++next_;
  if (next_ == end_ || *next_ != quote)
    return longString(begin, quote);
  return {begin, static_cast<size_t>(next_++ - begin)};
}

/// Of a string with more than plain characters; the first that is not plain comes next.
std::string_view JsonReader::longString(const char *begin, char quote) {
  unescaped_.assign(begin, next_);
  while (next_ != end_ && *next_ != quote) {
    const size_t at = static_cast<size_t>(next_ - begin_);
    if (*next_ == '\\') {
      if (!takeEscape()) {
        fail(at, "the string has an escape that is none");
        return {};
      }
      continue;
    }
    if (static_cast<uint8_t>(*next_) < 0x20) {
      fail(at, concat("the string has the control character ", int(*next_), ", which is written as an escape"));
      return {};
    }
    const size_t bytes = utf8Bytes({next_, static_cast<size_t>(end_ - next_)});
    if (bytes == 0) {
      fail(at, "the string is not UTF-8");
      return {};
    }
    unescaped_.append(next_, bytes);
    next_ += bytes;
  }
  if (next_ == end_) {
    fail(static_cast<size_t>(begin - begin_) - 1, "the string does not end");
    return {};
  }
  ++next_;
  return unescaped_;
}

/// Takes `\n` or the like and adds what it stands for. A pair of surrogates is one character.
bool JsonReader::takeEscape() {
  constexpr std::string_view kNames = "\"\\/'bfnrt", kMeanings = "\"\\/'\b\f\n\r\t";
  if (++next_ == end_)
    return false;
  const char name = *next_++;
  if (const size_t known = kNames.find(name); known != std::string_view::npos) {
    unescaped_ += kMeanings[known];
    return true;
  }
  std::optional<uint32_t> point = name == 'u' ? takeHex4() : std::nullopt;
  if (!point || (*point >= 0xdc00 && *point <= 0xdfff))
    return false;
  if (*point >= 0xd800 && *point <= 0xdbff) {
    if (!std::string_view(next_, static_cast<size_t>(end_ - next_)).starts_with("\\u"))
      return false;
    next_ += 2;
    const std::optional<uint32_t> low = takeHex4();
    if (!low || *low < 0xdc00 || *low > 0xdfff)
      return false;
    point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
  }
  appendUtf8(unescaped_, *point);
  return true;
}

std::optional<uint32_t> JsonReader::takeHex4() {
  uint32_t value = 0;
  if (end_ - next_ < 4)
    return std::nullopt;
  auto [stop, error] = std::from_chars(next_, next_ + 4, value, 16);
  if (error != std::errc() || stop != next_ + 4)
    return std::nullopt;
  next_ += 4;
  return value;
}

bool JsonReader::boolean() {
  if (next() == Next::Number)
    return integer(0, 1) != 0;
  const size_t at = offset();
  const std::string_view found = next() == Next::Word ? word() : std::string_view();
  if (found == "true" || found == "false")
    return found == "true";
  if (found.empty())
    failExpecting("true or false");
  else
    fail(at, concat("expected true or false, found '", found, '\''));
  return false;
}

uint64_t JsonReader::integer(int64_t low, uint64_t high) {
  if (next() != Next::Number) {
    failExpecting("a number");
    return 0;
  }
  const char *begin = next_;
  const bool isNegative = *next_ == '-';
  next_ += isNegative;
  const std::string_view rest(next_, static_cast<size_t>(end_ - next_));
  const bool isHex = rest.starts_with("0x") || rest.starts_with("0X");
  next_ += isHex ? 2 : 0;
  uint64_t magnitude = 0;
  auto [stop, error] = std::from_chars(next_, end_, magnitude, isHex ? 16 : 10);
  const bool isWhole = stop != next_ && (stop == end_ || !(isWordPart(*stop) || *stop == '.'));
  next_ = stop;
  const uint64_t limit = isNegative ? -static_cast<uint64_t>(low) : high;
  if (isWhole && error == std::errc() && magnitude <= limit)
    return isNegative ? -magnitude : magnitude;
  const char *end =
      std::find_if_not(stop, end_, [](char c) { return isWordPart(c) || c == '.' || c == '+' || c == '-'; });
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  fail(static_cast<size_t>(begin - begin_),
       isWhole ? concat(text, " is not from ", low, " to ", high) : concat('\'', text, "' is no integer"));
  return 0;
}

bool JsonReader::acceptWord(std::string_view wanted) {
  const char *begin = next_;
  if (word() == wanted)
    return true;
  next_ = begin;
  return false;
}

void JsonReader::finish() {
  skipBlanks();
  if (next_ != end_)
    failExpecting("the end");
}

void JsonWriter::separate() {
  if (afterKey_) {
    afterKey_ = false;
    return;
  }
  if (!isFirst_)
    text_ += ',';
  if (indent_)
    text_.append("\n").append(*indent_, ' ');
  else if (style_ == Style::Inline)
    text_ += isFirst_ ? "" : " ";
  else if (depth_)
    text_.append("\n").append(depth_ * 2, ' ');
  indent_.reset();
  isFirst_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  text_ += jsonString(name);
  text_ += ": ";
  afterKey_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  text_ += jsonString(text);
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  isFirst_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (indent_)
    text_.append("\n").append(*indent_, ' ');
  else if (style_ == Style::Indented && !isFirst_)
    text_.append("\n").append(depth_ * 2, ' ');
  indent_.reset();
  text_ += bracket;
  isFirst_ = false;
}

} // namespace tenon
