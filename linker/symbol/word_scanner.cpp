// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source of the word forms: PTX ISA, "Lexical Elements".
#include "linker/symbol/word_scanner.h"

#include <algorithm>
#include <cctype>

namespace tenon::linker {

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

void WordScanner::skipBlanks() {
  while (position_ < text_.size()) {
    std::string_view rest = text_.substr(position_);
    size_t end = std::string_view::npos;
    if (std::isspace(static_cast<unsigned char>(rest[0])))
      end = 1;
    else if (rest.starts_with("//"))
      end = rest.find('\n');
    else if (rest.starts_with("/*"))
      end = rest.find("*/", 2) == std::string_view::npos ? rest.size() : rest.find("*/", 2) + 2;
    else
      return;
    position_ += std::min(end, rest.size());
  }
}

Word WordScanner::next() {
  skipBlanks();
  const size_t begin = position_;
  if (begin >= text_.size())
    return {{}, text_.size()};
  ++position_;
  if (text_[begin] == '"') {
    size_t end = text_.find('"', position_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
  } else if (isWordChar(text_[begin]) || text_[begin] == '.') {
    while (position_ < text_.size() && isWordChar(text_[position_]))
      ++position_;
  }
  return {text_.substr(begin, position_ - begin), begin};
}

} // namespace tenon::linker
