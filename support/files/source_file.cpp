// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines end at LF; a CR before the LF belongs to the line end. A text that ends in LF has an empty last line, so that
// an error at the end of the file has a place.
#include "support/files/source_file.h"

#include <algorithm>
#include <utility>

namespace tenon {

SourceFile::SourceFile(std::string name, FileBytes text) : name_(std::move(name)), text_(std::move(text)) {}

const std::vector<size_t> &SourceFile::lineStarts() const {
  std::call_once(linesFound_, [this] {
    const std::string_view text = text_;
    lineStarts_.push_back(0);
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      lineStarts_.push_back(at + 1);
  });
  return lineStarts_;
}

SourceLocation SourceFile::locate(size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::vector<size_t> &starts = lineStarts();
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  size_t index = static_cast<size_t>(next - starts.begin()) - 1;
  return {name_, static_cast<uint32_t>(index + 1), static_cast<uint32_t>(offset - starts[index] + 1)};
}

std::string_view SourceFile::line(uint32_t line) const {
  const std::vector<size_t> &starts = lineStarts();
  if (line == 0 || line > starts.size())
    return {};
  size_t begin = starts[line - 1];
  size_t end = line < starts.size() ? starts[line] - 1 : text_.size();
  if (line < starts.size() && end > begin && text_.view()[end - 1] == '\r')
    --end;
  return text_.view().substr(begin, end - begin);
}

} // namespace tenon
