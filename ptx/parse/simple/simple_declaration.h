// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain declarations, read straight from the text as simple_reader.h reads instructions:
//
//   .reg .b32 %r<12>;      .param .u64 .ptr .global .align 4 k_param_0,      .loc 1 12 3
//
// Null where something is not plain; nothing is reported here. Private to ptx/parse/parse_simple.cpp.
#pragma once

#include "ptx/module.h"

namespace tenon::ptx {

/// Where a statement stands.
class TextPlace {
public:
  TextPlace() = default;
  TextPlace(const char *text, const char *lineStart, uint32_t line) : text(text), lineStart(lineStart), line(line) {}
  const char *text = nullptr;
  const char *lineStart = nullptr;
  uint32_t line = 0;

  uint32_t columnOf(const char *p) const { return static_cast<uint32_t>(p - lineStart) + 1; }
  /// Over blanks, line ends and `//` comments.
  void skip(const char *end) {
    if (*text == '\n') { // and a tab, and a statement: so nearly all lines end
      ++line;
      lineStart = ++text;
      text += *text == '\t';
      if (*text > '/') [[likely]]
        return;
    }
    skipMore(end);
  }

private:
  void skipMore(const char *end);
};

/// One variable, from its first dot to behind its name or count; all of it on the line of `place`. `end`: of the text.
/// Fills what follows from its words, and its line and column.
const char *readSimpleVariable(const TextPlace &place, const char *end, Variable &variable);

/// `.loc` and its three numbers, without what may follow.
const char *readSimpleMark(const char *p, SourceMark &mark);

} // namespace tenon::ptx
