// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/workload.h"

#include "support/text/text.h"

#include <algorithm>

namespace tenon::runtime {

Status Workload::add(std::string_view key, std::string_view value) {
  const std::string text(trimmed(value));
  std::string *single = nullptr;
  if (key == "size")
    sizes.push_back(text);
  else if (key == "binding")
    bindings.push_back(text);
  else if (key == "constant")
    constants.push_back(text);
  else if (key == "grid")
    single = &grid;
  else if (key == "reference")
    single = &reference;
  else
    return makeError(StatusCode::InvalidArgument, "unknown key '", key,
                     "'; there are size, binding, constant, grid and reference");
  if (single && !single->empty())
    return makeError(StatusCode::InvalidArgument, "a second '", key, "'");
  if (single)
    *single = text;
  return okStatus();
}

Result<std::vector<Workload>> parseWorkloads(std::string_view text, std::string_view path) {
  std::vector<Workload> out;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    auto wrong = [&](auto... words) { return makeError(StatusCode::InvalidArgument, path, ":", line, ": ", words...); };
    if (content.empty() || content.front() == '#')
      continue;
    if (content.front() == '[') {
      if (content.back() != ']' || content.size() < 3)
        return wrong("expected [EXPORT]");
      out.emplace_back().exportName = trimmed(content.substr(1, content.size() - 2));
      continue;
    }
    const size_t equal = content.find('=');
    if (equal == std::string_view::npos)
      return wrong("expected key = value");
    if (out.empty())
      return wrong("expected [EXPORT] before the first line");
    Status status = out.back().add(trimmed(content.substr(0, equal)), content.substr(equal + 1));
    if (!status.ok())
      return wrong(status.message());
  }
  return out;
}

} // namespace tenon::runtime
