// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/kernels/corpus/kernel_text.h"

#include <algorithm>
#include <string_view>

namespace tenon::corpus {
namespace {

/// One past the bracket that closes the one at `open`; comments and strings hold none in what compilers print.
size_t closing(const std::string &text, size_t open, char left, char right) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at)
    if (text[at] == left)
      ++depth;
    else if (text[at] == right && --depth == 0)
      return at + 1;
  return std::string::npos;
}

struct Entry {
  size_t begin, name, nameEnd, end; // the whole definition, linkage included
};

std::vector<Entry> findEntries(const std::string &text) {
  std::vector<Entry> out;
  constexpr std::string_view kEntry = ".entry ";
  for (size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at + 1)) {
    Entry entry{text.rfind('\n', at) + 1, at + kEntry.size(), 0, 0};
    entry.nameEnd = text.find_first_of("( \t\r\n{", entry.name);
    entry.end = closing(text, text.find('{', entry.nameEnd), '{', '}');
    out.push_back(entry);
  }
  return out;
}

} // namespace

std::string keepKernel(const std::string &text, const std::string &name) {
  std::string out;
  size_t from = 0;
  bool isThere = false;
  for (const Entry &entry : findEntries(text)) {
    const std::string found = text.substr(entry.name, entry.nameEnd - entry.name);
    // A mangled name has its length in front.
    if (name.empty() || found == name ||
        (found.starts_with("_Z") && found.find(std::to_string(name.size()) + name) != std::string::npos)) {
      isThere = true;
      continue;
    }
    out.append(text, from, entry.begin - from);
    from = entry.end;
  }
  return isThere ? out.append(text, from) : std::string();
}

std::string reorderParameters(const std::string &text, const std::vector<size_t> &order) {
  const std::vector<Entry> entries = findEntries(text);
  const size_t open = text.find('(', entries.front().nameEnd), close = closing(text, open, '(', ')');
  std::vector<std::string> parameters;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(text.find(',', at), close - 1);
    parameters.push_back(text.substr(at, end - at));
    while (parameters.back().ends_with('\n'))
      parameters.back().pop_back();
    at = end + 1;
  }
  std::string list;
  for (size_t i = 0; i < parameters.size(); ++i)
    list.append(i ? "," : "").append(parameters[i < order.size() ? order[i] : i]);
  return text.substr(0, open + 1) + list + "\n" + text.substr(close - 1);
}

} // namespace tenon::corpus
