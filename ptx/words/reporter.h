// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the lexer and the parser put their errors: one place that adds the file name and stops the flood. After
// kMaximumErrors a last line says so and the lexer answers "end of file", so that a binary fed as PTX ends at once.
#pragma once

#include "ptx/words/token.h"
#include "support/diagnostics.h"
#include "support/files/source_file.h"

#include <string>
#include <string_view>

namespace tenon::ptx {

class Reporter {
public:
  static constexpr unsigned kMaximumErrors = 100;

  Reporter(const SourceFile &source, Diagnostics &diagnostics) : source_(source), diagnostics_(diagnostics) {}

  /// Adds one error at line and column (from 1). `rule` is an id of ptx/README.md ("P-4"); `fix` may be empty.
  void error(uint32_t line, uint32_t column, std::string_view rule, std::string message, std::string fix = {});
  void error(const Token &at, std::string_view rule, std::string message, std::string fix = {}) {
    error(at.line, at.column, rule, std::move(message), std::move(fix));
  }
  bool any() const { return count_ != 0; }
  /// No more errors are taken.
  bool full() const { return count_ >= kMaximumErrors; }

private:
  const SourceFile &source_;
  Diagnostics &diagnostics_;
  unsigned count_ = 0;
};

/// `text` in single quotes for a message: unprintable bytes as \xNN, cut after 40 bytes.
std::string quoteText(std::string_view text);

} // namespace tenon::ptx
