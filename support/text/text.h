// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every floor writes and reads text with.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Without white space at either end.
std::string_view trimmed(std::string_view text);

/// A JSON string, quotes included: quotes, backslashes and control characters are escaped, all other bytes stay
/// (RFC 8259).
std::string jsonString(std::string_view text);

} // namespace tenon
