// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/excerpts.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <string>

namespace tenon::compiler::bridge {
namespace {

/// The place at or behind `at` where a character begins.
size_t characterFrom(llvm::StringRef line, size_t at) {
  while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80)
    ++at;
  return at;
}

/// Columns that a terminal takes for it.
size_t columnsOf(llvm::StringRef text) {
  const int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : static_cast<size_t>(width);
}

void print(const llvm::SMDiagnostic &diagnostic, void * /*context*/) {
  llvm::raw_ostream &out = llvm::errs();
  const llvm::StringRef line = diagnostic.getLineContents();
  if (line.size() <= kLongestLine || diagnostic.getColumnNo() < 0) {
    diagnostic.print(nullptr, out);
    return;
  }
  const std::string place = (diagnostic.getFilename() + ":" + llvm::Twine(diagnostic.getLineNo()) + ":" +
                             llvm::Twine(diagnostic.getColumnNo() + 1))
                                .str();
  // Without a line number LLVM prints what stands before the line, and nothing of the line.
  llvm::SMDiagnostic(*diagnostic.getSourceMgr(), llvm::SMLoc(), place, -1, -1, diagnostic.getKind(),
                     diagnostic.getMessage(), "", {})
      .print(nullptr, out);

  const size_t column = std::min<size_t>(diagnostic.getColumnNo(), line.size());
  const size_t first = characterFrom(line, column > kBeforePlace ? column - kBeforePlace : 0);
  const size_t last = characterFrom(line, std::min<size_t>(first + kLongestLine / 2, line.size()));
  auto excerpt = [&](size_t from, size_t to) {
    std::string text = line.slice(from, to).str();
    std::replace(text.begin(), text.end(), '\t', ' ');
    return text;
  };
  const std::string before = (first ? "..." : "") + excerpt(first, std::max(first, column));
  out << before << excerpt(std::max(first, column), last) << (last < line.size() ? "..." : "") << "\n";
  out.indent(static_cast<unsigned>(columnsOf(before)));
  llvm::WithColor(out, llvm::raw_ostream::GREEN, true).get() << "^\n";
}

} // namespace

void shortenExcerpts(llvm::SourceMgr &sources) {
  sources.setDiagHandler(print);
}

} // namespace tenon::compiler::bridge
