// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strtod and strtof read what from_chars for floating point does not (hexadecimal with 0x, a sign); no part of Tenon
// sets a locale, so the point is a point.
#include "support/number.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace tenon {

template <typename T> static std::optional<T> parseWith(std::string_view text, T (*convert)(const char *, char **)) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())))
    return std::nullopt;
  const std::string copy(text); // ends in NUL
  char *end = nullptr;
  const T value = convert(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> parseDouble(std::string_view text) {
  return parseWith(text, std::strtod);
}

std::optional<float> parseFloat(std::string_view text) {
  return parseWith(text, std::strtof);
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string hexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace tenon
