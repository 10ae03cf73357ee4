// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of a PTX text, with their place, up to a limit.
#include "ptx/words/reporter.h"

namespace tenon::ptx {

void Reporter::error(uint32_t line, uint32_t column, std::string_view rule, std::string message, std::string fix) {
  if (full())
    return;
  Diagnostic &diagnostic = diagnostics_.error({source_.name(), line, column}, std::string(rule), std::move(message));
  if (!fix.empty())
    diagnostic.withFix(std::move(fix));
  if (++count_ == kMaximumErrors)
    diagnostics_
        .error({source_.name(), line, column}, "P-13",
               "stopped after " + std::to_string(kMaximumErrors) + " errors; the rest of the file was not read")
        .withFix("correct the first errors: later ones often follow from them");
}

std::string quoteText(std::string_view text) {
  constexpr size_t kLongest = 40;
  constexpr std::string_view kDigits = "0123456789abcdef";
  bool cut = text.size() > kLongest;
  std::string out = "'";
  for (char c : text.substr(0, kLongest)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  out += cut ? "...'" : "'";
  return out;
}

} // namespace tenon::ptx
