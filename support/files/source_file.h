// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text and the way from a byte offset back to line and column. Bytes stay as read; CR LF counts as one line end.
#pragma once

#include "support/diagnostics.h"
#include "support/files/file_bytes.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class SourceFile {
public:
  SourceFile(std::string name, FileBytes text);
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  const std::string &name() const { return name_; }
  /// Followed by a NUL.
  std::string_view text() const { return text_.view(); }
  /// Place of byte `offset` (0 <= offset <= size). Columns count bytes from 1.
  SourceLocation locate(size_t offset) const;
  /// Line `line` (from 1) without its line end; empty past the end.
  std::string_view line(uint32_t line) const;

private:
  const std::vector<size_t> &lineStarts() const;

  std::string name_;
  FileBytes text_;
  // Made when a place is asked for; a text without findings is never asked.
  mutable std::once_flag linesFound_;
  mutable std::vector<size_t> lineStarts_;
};

} // namespace tenon
