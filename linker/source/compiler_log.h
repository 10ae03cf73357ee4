// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA compiler says, as findings with places. Its words are kept as they are.
#pragma once

#include "support/diagnostics.h"

#include <string_view>
#include <vector>

namespace tenon::linker {

struct CompilerMessage {
  Severity severity = Severity::Error;
  SourceLocation where; // unknown where the message has no place
  std::string text;     // with its further lines: the source and a caret
  bool operator==(const CompilerMessage &) const = default;
};

/// Messages of nvcc, of the host compiler that it runs, and of clang, in order. Lines that belong to none are left out.
std::vector<CompilerMessage> parseCompilerLog(std::string_view log);

} // namespace tenon::linker
