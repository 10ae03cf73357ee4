// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding up to whole units.
#pragma once

#include <concepts>
#include <type_traits>

namespace tenon {

/// The least multiple of `unit` (> 0, any number) that is at least `value`. The caller knows that it does not overflow.
template <std::unsigned_integral T> constexpr T alignUp(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

/// How many units (> 0) hold `value`.
template <std::unsigned_integral T> constexpr T ceilDiv(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}

} // namespace tenon
