// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as nvcc 11 to 13 writes them, for k.cu:
//
//   _ZN27_INTERNAL_702264a6_4_k_cu_k29_GLOBAL__N__702264a6_4_k_cu_k6hiddenE
//   __nv_static_18__941d538d_4_k_cu_k_counter
//
// The digits are replaced by as many, so that the lengths in mangled names stay true.
#include "linker/source/stable_ptx.h"

#include <algorithm>
#include <cctype>

namespace tenon::linker {
namespace {

constexpr size_t kDigits = 8;

bool isHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// Whether `before` ends as it does in front of a path's digits.
bool announcesDigits(std::string_view before) {
  if (before.ends_with("_INTERNAL_") || before.ends_with("_GLOBAL__N__"))
    return true;
  if (!before.ends_with("__"))
    return false;
  before.remove_suffix(2);
  const size_t number = before.size();
  while (!before.empty() && std::isdigit(static_cast<unsigned char>(before.back())))
    before.remove_suffix(1);
  return before.size() < number && before.ends_with("__nv_static_");
}

void replaceDigits(std::string &text, std::string_view id) {
  for (size_t at = text.find('_'); at != std::string::npos; at = text.find('_', at + 1)) {
    const size_t digits = at + 1;
    if (digits + kDigits >= text.size() || text[digits + kDigits] != '_' ||
        !std::all_of(text.begin() + long(digits), text.begin() + long(digits + kDigits), isHex) ||
        !announcesDigits(std::string_view(text).substr(0, digits)))
      continue;
    text.replace(digits, kDigits, id);
    at = digits + kDigits - 1;
  }
}

/// `.file 1 "/a/b/k.cu", 17, 30` as `.file 1 "k.cu"`; other lines as they are.
std::string stableLine(std::string_view line, std::string_view folder) {
  const size_t start = line.find_first_not_of(" \t");
  const size_t open = line.find('"'), close = line.rfind('"');
  if (start == std::string_view::npos || !line.substr(start).starts_with(".file") || open == std::string_view::npos ||
      open == close)
    return std::string(line);
  std::string_view path = line.substr(open + 1, close - open - 1);
  if (!folder.empty() && path.starts_with(folder))
    path.remove_prefix(folder.size());
  return std::string(line.substr(0, open + 1)).append(path).append("\"");
}

} // namespace

std::string stablePtx(std::string_view text, std::string_view folder, std::string_view id) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += stableLine(text.substr(0, end), folder);
    if (end == std::string_view::npos)
      break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  if (id.size() == kDigits)
    replaceDigits(out, id);
  return out;
}

} // namespace tenon::linker
