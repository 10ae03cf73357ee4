// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An error in MLIR text is printed with the line that it is in. Where a program writes the text, that line may be
// megabytes long: a constant in hexadecimal, a whole module. Then only what is around the place is worth printing.
#pragma once

namespace llvm {
class SourceMgr;
}

namespace tenon::compiler::bridge {

/// Longest line that is printed whole, and how much of a longer one is printed before the place; bytes.
inline constexpr unsigned kLongestLine = 400, kBeforePlace = 80;

/// Diagnostics of `sources` go to standard error as LLVM prints them, but for long lines, of which an excerpt stands
/// there.
void shortenExcerpts(llvm::SourceMgr &sources);

} // namespace tenon::compiler::bridge
