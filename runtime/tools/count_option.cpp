// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of the text is the number: no sign, no unit.
#include "runtime/tools/count_option.h"

#include <charconv>

namespace tenon::runtime {

Result<uint64_t> parseCount(const char *name, const std::string &text, uint64_t least) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    return makeError(StatusCode::InvalidArgument, "--", name, "=", text, ": expected a number of at least ", least);
  return value;
}

} // namespace tenon::runtime
