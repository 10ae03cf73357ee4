// A text and the way from a byte offset back to line and column. Bytes stay as read; CR LF counts as one line end.
#pragma once

#include "abi/diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  const std::string &name() const { return name_; }
  std::string_view text() const { return text_; }
  /// Place of byte `offset` (0 <= offset <= size). Columns count bytes from 1.
  SourceLocation locate(size_t offset) const;
  /// Line `line` (from 1) without its line end; empty past the end.
  std::string_view line(uint32_t line) const;

private:
  std::string name_;
  std::string text_;
  std::vector<size_t> lineStarts_;
};

} // namespace tenon
