// A text and the way from a byte offset back to line and column. Bytes stay as read; CR LF counts as one line end.
#pragma once

#include "abi/diagnostics.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  /// A text that somebody else keeps, at the same place and for longer than this.
  struct Borrowed {
    const std::string &text;
  };
  SourceFile(std::string name, Borrowed borrowed);
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  const std::string &name() const { return name_; }
  /// Followed by a NUL.
  std::string_view text() const { return text_; }
  /// Place of byte `offset` (0 <= offset <= size). Columns count bytes from 1.
  SourceLocation locate(size_t offset) const;
  /// Line `line` (from 1) without its line end; empty past the end.
  std::string_view line(uint32_t line) const;

private:
  const std::vector<size_t> &lineStarts() const;

  std::string name_;
  std::string owned_;
  const std::string &text_;
  // Made when a place is asked for; a text without findings is never asked.
  mutable std::once_flag linesFound_;
  mutable std::vector<size_t> lineStarts_;
};

} // namespace tenon
