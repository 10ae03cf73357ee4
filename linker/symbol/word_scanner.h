// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text word by word, for edits that keep every other byte as it is: the parser keeps statements, not their
// spelling.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon::linker {

/// A word of PTX with its place. Names keep `%` and `$`; directives and modifiers begin with '.'; a string literal is
/// one word with its quotes; anything else is a single character. At the end of the text it is empty.
struct Word {
  std::string_view text;
  size_t begin = 0;
};

/// Comments and blanks are passed over. Any bytes are fine: an open comment or string ends with the text.
class WordScanner {
public:
  explicit WordScanner(std::string_view text, size_t position = 0) : text_(text), position_(position) {}

  Word next();
  /// Just behind the last word.
  size_t position() const { return position_; }

private:
  void skipBlanks();

  std::string_view text_;
  size_t position_;
};

} // namespace tenon::linker
