// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a person sees: colours, on a terminal alone, and none where NO_COLOR is set or TERM is "dumb".
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tenon {

/// Whether a person reads `stream`, and a line of it can be written over.
bool isTerminal(std::FILE *stream);
/// Whether text on `stream` may have colours.
bool takesColours(std::FILE *stream);

/// Findings, one a line, with their places in bold and "error:", "warning:", "remark:", "note:" and "fix:" in colours.
std::string colouredMessages(std::string_view text);
/// A help text with its headings in bold.
std::string colouredHelp(std::string_view text);

/// Prints findings, with colours where `stream` takes them.
void printMessages(std::FILE *stream, std::string_view text);

} // namespace tenon
