// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes as a workload writes them: `n`, `2 * n + 1`, `ceildiv(n, 128)`. Integers, names, + - * /, parentheses,
// ceildiv, min, max.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tenon::runtime {

using Sizes = std::map<std::string, int64_t, std::less<>>;

/// InvalidArgument: what does not parse, a name without a value, a division by zero; OutOfRange: past 63 bits.
Result<int64_t> evaluateSize(std::string_view text, const Sizes &sizes);

/// Adds the names of sizes that an expression uses. InvalidArgument: it does not parse.
Status collectNames(std::string_view text, std::set<std::string> &names);

} // namespace tenon::runtime
