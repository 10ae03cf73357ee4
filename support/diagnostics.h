// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings with a place. A pass reports everything it finds and goes on; its caller looks at hasErrors() once.
//
//   kernels.ptx:12:3: error: [K-4] parameter 2 of 'saxpy' is .u32, the layout declares binding 2 (.u64)
//   example.mlir:31:5: note: declared here
//   fix: make it a pointer, or declare constants = 3
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// A place in a text file. line and column count from 1; line 0 means the whole file; an empty file means no place.
struct SourceLocation {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  bool known() const { return !file.empty(); }
  /// "kernels.ptx:12:3", "kernels.ptx" or "".
  std::string toString() const;
  bool operator==(const SourceLocation &) const = default;
};

// Remark: nothing is wrong, but a user may want to know.
enum class Severity : uint8_t { Warning, Error, Remark };

struct DiagnosticNote {
  SourceLocation where;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation where;
  std::string rule;    // "K-4"; empty where no numbered rule applies
  std::string message; // lower case, names quoted, found before wanted
  std::vector<DiagnosticNote> notes;
  std::string fix; // what the user should do; may be empty

  Diagnostic &note(SourceLocation where, std::string message);
  Diagnostic &withFix(std::string fix);
  /// The lines as printed, newline-terminated.
  std::string toString() const;
};

/// Collects findings in the order they were reported.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation where, std::string rule, std::string message);
  Diagnostic &warning(SourceLocation where, std::string rule, std::string message);
  Diagnostic &remark(SourceLocation where, std::string rule, std::string message);
  void append(Diagnostics other);

  bool hasErrors() const { return errorCount() != 0; }
  size_t errorCount() const;
  const std::vector<Diagnostic> &items() const { return items_; }
  /// Every finding as printed.
  std::string toString() const;

private:
  std::vector<Diagnostic> items_;
};

} // namespace tenon
