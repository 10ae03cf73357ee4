// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers as text. Parsing takes a whole word or nothing: no white space, no '+', nothing behind the number, and no
// value that the type cannot hold, so that `--jobs=4x` is never 4. No locale changes any of it.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// A number at the start of `text`, which is cut off it; nothing, and `text` as it was, where there is none or T cannot
/// hold it. "12x" gives 12 and leaves "x"; a sign is taken for signed T only ("-3").
template <std::integral T> std::optional<T> takeNumber(std::string_view &text, int base = 10) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

/// All of `text` as a number; nothing for other text.
template <std::integral T> std::optional<T> parseNumber(std::string_view text, int base = 10) {
  const std::optional<T> value = takeNumber<T>(text, base);
  return text.empty() ? value : std::nullopt;
}

/// All of `text` as a finite or infinite double or NaN, as C writes them ("1", "0.5", "1e-3", "0x1p3", "inf", "nan");
/// too large is infinity. Nothing for other text.
std::optional<double> parseDouble(std::string_view text);
/// The same rounded once, to float.
std::optional<float> parseFloat(std::string_view text);

/// "0.0001", "1e+20": six significant digits.
std::string numberText(double value);

/// "0x1f00".
std::string hexText(uint64_t value);

} // namespace tenon
