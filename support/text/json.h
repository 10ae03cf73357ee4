// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON in and out (RFC 8259). The reader takes a text from front to back in one pass and builds nothing: its caller
// asks for the value that it expects next, and what is read says where it stands. What people write by hand is read
// too: comments, names without quotes, strings in single quotes, commas behind a last element and hexadecimal integers.
//
//   JsonReader json(text);
//   json.object([&](std::string_view name, size_t offset) {
//     if (name == "sizes")
//       json.array([&] { sizes.push_back(json.integer<uint32_t>()); });
//     else
//       json.fail(offset, concat("unknown field: ", name));
//   });
//   json.finish();
//   if (const std::optional<JsonMistake> &mistake = json.mistake()) ...
//
// A library was tried first: README.md has the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenon {

struct JsonMistake {
  size_t offset = 0; // in the text
  std::string message;
};

/// Borrows its text. The first mistake ends all reading: from then on values are empty or 0 and lists have ended.
class JsonReader {
public:
  explicit JsonReader(std::string_view text);

  enum class Next : uint8_t { Object, Array, String, Number, Word, Other };
  /// What the next value begins like. Word: without quotes (true, null, a name).
  Next next();
  /// Offset of what comes next, in bytes.
  size_t offset() {
    skipBlanks();
    return static_cast<size_t>(next_ - begin_);
  }

  /// Calls member(name, offset of the name) for each member, which reads its value. The name is valid until then.
  /// @return the offset of the closing bracket
  template <typename Member> size_t object(Member member) {
    expect('{', "an object");
    while (!atEnd('}')) {
      const size_t at = offset();
      const std::string_view name = stringOrWord();
      expect(':', "':'");
      if (mistake_)
        return 0;
      member(name, at);
      separate('}');
    }
    return static_cast<size_t>(next_ - begin_) - 1;
  }
  /// Calls element() for each element, which reads it.
  template <typename Element> void array(Element element) {
    expect('[', "a list");
    while (!atEnd(']')) {
      element();
      separate(']');
    }
  }
  /// A string with its escapes resolved, valid UTF-8; valid until the next is read.
  std::string_view string();
  /// The same, or a word without quotes.
  std::string_view stringOrWord() { return next() == Next::Word ? word() : string(); }
  /// true or false, also as 1 or 0.
  bool boolean();
  template <typename Integer> Integer integer() {
    using Limits = std::numeric_limits<Integer>;
    return static_cast<Integer>(integer(static_cast<int64_t>(Limits::min()), static_cast<uint64_t>(Limits::max())));
  }
  /// From `low` (<= 0) to `high`; a negative one as its 64 bits in two's complement.
  uint64_t integer(int64_t low, uint64_t high);
  /// Takes a null.
  bool acceptNull() {
    skipBlanks();
    return next_ != end_ && *next_ == 'n' && acceptWord("null");
  }
  /// Nothing but blanks and comments may follow.
  void finish();

  /// Reports a mistake of the caller's kind. The first one stays.
  void fail(size_t offset, std::string message);
  const std::optional<JsonMistake> &mistake() const { return mistake_; }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skipBlanks() {
    while (next_ != end_ && isBlank(*next_))
      ++next_;
    if (next_ != end_ && *next_ == '/')
      skipComments();
  }
  void skipComments();
  bool accept(char c) {
    skipBlanks();
    if (next_ == end_ || *next_ != c)
      return false;
    ++next_;
    return true;
  }
  void expect(char c, std::string_view what) {
    if (!accept(c))
      failExpecting(what);
  }
  bool atEnd(char bracket) { return mistake_ || accept(bracket); }
  /// Behind an element: a comma, or the bracket, which stays.
  void separate(char bracket) {
    if (!accept(',') && (next_ == end_ || *next_ != bracket))
      failExpecting(bracket == '}' ? "',' or '}'" : "',' or ']'");
  }
  void failExpecting(std::string_view what);
  std::string_view word();
  bool acceptWord(std::string_view wanted);
  std::string_view longString(const char *begin, char quote);
  bool takeEscape();
  std::optional<uint32_t> takeHex4();
  std::string found();

  const char *begin_;
  const char *next_;
  const char *end_;
  std::string unescaped_; // the last string, where it is not as in the text
  std::optional<JsonMistake> mistake_;
};

/// Calls come in the order of the text: beginObject, key, value, ..., endObject. Commas and line breaks are put in.
class JsonWriter {
public:
  enum class Style : uint8_t {
    Indented, // each element on a line, indented by two
    Inline    // all on one line, but for breakLine()
  };
  explicit JsonWriter(Style style = Style::Indented) : style_(style) {}

  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  template <typename Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
  void value(Integer number) {
    raw(std::to_string(number));
  }
  /// A value that is JSON already, such as a number with its digits chosen.
  void raw(std::string_view json);
  /// Arrays of numbers stay on one line.
  template <typename Range> void numbers(const Range &range) {
    std::string text = "[";
    for (auto number : range)
      text += (text.size() > 1 ? ", " : "") + std::to_string(number);
    raw(text + "]");
  }
  template <typename Value> void member(std::string_view name, const Value &content) {
    key(name);
    value(content);
  }
  /// The next element or closing bracket begins a line, with `indent` spaces in front.
  void breakLine(size_t indent) { indent_ = indent; }

  /// The text so far; call once, at the end.
  std::string take() { return std::move(text_); }

private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  Style style_;
  std::string text_;
  std::optional<size_t> indent_; // of the line to begin
  size_t depth_ = 0;
  bool isFirst_ = true; // in the innermost object or array
  bool afterKey_ = false;
};

} // namespace tenon
