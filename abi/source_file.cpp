// Lines end at LF; a CR before the LF belongs to the line end. A text that ends in LF has an empty last line, so that
// an error at the end of the file has a place.
#include "abi/source_file.h"

#include <algorithm>
#include <utility>

namespace tenon {

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  lineStarts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n')
      lineStarts_.push_back(i + 1);
}

SourceLocation SourceFile::locate(size_t offset) const {
  offset = std::min(offset, text_.size());
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  size_t index = static_cast<size_t>(next - lineStarts_.begin()) - 1;
  return {name_, static_cast<uint32_t>(index + 1), static_cast<uint32_t>(offset - lineStarts_[index] + 1)};
}

std::string_view SourceFile::line(uint32_t line) const {
  if (line == 0 || line > lineStarts_.size())
    return {};
  size_t begin = lineStarts_[line - 1];
  size_t end = line < lineStarts_.size() ? lineStarts_[line] - 1 : text_.size();
  if (line < lineStarts_.size() && end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

} // namespace tenon
