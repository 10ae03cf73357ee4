// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brackets are counted and strings and comments skipped; nothing else of JSON matters for positions. Depth 1 is the
// inside of the root object, depth 2 the inside of one of its lists.
#include "linker/declare/json_positions.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tenon::linker {
namespace {

bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '+';
}

/// Whether a character matters inside an element of a list: brackets, strings and comments.
constexpr auto kMatters = [] {
  std::array<bool, 256> matters = {};
  for (char c : {'{', '}', '[', ']', '"', '\'', '/'})
    matters[static_cast<unsigned char>(c)] = true;
  return matters;
}();

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::map<std::string, std::vector<size_t>> run() {
    while (skipBlanks(), position_ < text_.size())
      if (brackets_.size() > 2)
        skipInside();
      else
        step();
    return std::move(found_);
  }

private:
  void skipBlanks() {
    while (position_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[position_])))
        ++position_;
      else if (text_[position_] != '/')
        return;
      else if (text_.substr(position_).starts_with("//"))
        position_ = std::min(text_.find('\n', position_), text_.size());
      else if (text_.substr(position_).starts_with("/*"))
        position_ = std::min(text_.find("*/", position_), text_.size() - 2) + 2;
      else
        return;
    }
  }

  /// One thing that matters inside an element, or the end.
  void skipInside() {
    while (position_ < text_.size() && !kMatters[static_cast<unsigned char>(text_[position_])])
      ++position_;
    if (position_ == text_.size())
      return;
    const char c = text_[position_];
    if (c == '"' || c == '\'')
      return static_cast<void>(takeString(c));
    if (c == '{' || c == '[')
      brackets_ += c;
    else if (c == '}' || c == ']')
      brackets_.pop_back();
    else if (const size_t before = position_; skipBlanks(), position_ != before)
      return; // a comment
    ++position_;
  }

  std::string_view takeString(char quote) {
    const size_t begin = ++position_;
    while (position_ < text_.size() && text_[position_] != quote)
      position_ += text_[position_] == '\\' ? 2 : 1;
    position_ = std::min(position_, text_.size());
    const std::string_view value = text_.substr(begin, position_ - begin);
    position_ = std::min(position_ + 1, text_.size());
    return value;
  }

  void step() {
    const char c = text_[position_];
    const bool startsElement = brackets_.size() == 2 && brackets_[1] == '[' && expectElement_;
    if (startsElement && c != ']' && c != ',') {
      found_[name_].push_back(position_);
      expectElement_ = false;
    }
    if (c == '"' || c == '\'') {
      const std::string_view value = takeString(c);
      if (brackets_.size() == 1)
        name_ = value;
    } else if (isWordChar(c)) {
      const size_t begin = position_;
      while (position_ < text_.size() && isWordChar(text_[position_]))
        ++position_;
      if (brackets_.size() == 1)
        name_ = text_.substr(begin, position_ - begin);
    } else {
      if (c == '{' || c == '[') {
        brackets_ += c;
        expectElement_ = brackets_.size() == 2;
      } else if ((c == '}' || c == ']') && !brackets_.empty()) {
        brackets_.pop_back();
      } else if (c == ',' && brackets_.size() == 2) {
        expectElement_ = true;
      }
      ++position_;
    }
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string brackets_;       // open ones
  std::string name_;           // the member of the root object that was named last
  bool expectElement_ = false; // at the start of a list or after its comma
  std::map<std::string, std::vector<size_t>> found_;
};

} // namespace

std::map<std::string, std::vector<size_t>> findListElements(std::string_view text) {
  return Scanner(text).run();
}

} // namespace tenon::linker
