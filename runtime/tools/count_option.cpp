// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of the text is the number: no sign, no unit.
#include "runtime/tools/count_option.h"

#include "support/number.h"

namespace tenon::runtime {

Result<uint64_t> parseCount(const char *name, const std::string &text, uint64_t least) {
  const std::optional<uint64_t> value = parseNumber<uint64_t>(text);
  if (!value || *value < least)
    return makeError(StatusCode::InvalidArgument, "--", name, "=", text, ": expected a number of at least ", least);
  return *value;
}

} // namespace tenon::runtime
