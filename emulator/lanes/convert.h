// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What conversions share: rounding to whole numbers, and those to integers. In a namespace per instruction set, like
// lanes.h.
#pragma once

#include "emulator/machine/float_bits.h"
#include "ptx/scalar_type.h"

#include <limits>

namespace tenon::emulator::TENON_LEVEL {

template <typename S> inline S roundToIntegral(S value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Rni:
    return __builtin_elementwise_roundeven(value);
  case Rounding::Rmi:
    return __builtin_elementwise_floor(value);
  case Rounding::Rpi:
    return __builtin_elementwise_ceil(value);
  default:
    return __builtin_elementwise_trunc(value);
  }
}

/// `rounded` is integral (or NaN, infinite).
template <typename D, typename S> inline D floatToInteger(S rounded, bool wideNan) {
  using Limits = std::numeric_limits<D>;
  // 2^N as S, exact: the first value past the range.
  constexpr S kPast = static_cast<S>(static_cast<uint64_t>(1) << (Limits::digits - 1)) * S(2);
  constexpr S kLow = Limits::is_signed ? -kPast : S(0);
  if (rounded != rounded)
    return wideNan ? static_cast<D>(D(1) << (sizeof(D) * 8 - 1)) : D(0);
  if (rounded >= kPast)
    return Limits::max();
  if (rounded <= kLow)
    return Limits::min();
  return static_cast<D>(rounded);
}

/// cvt from and to f16, bf16 and their pairs.
Handler convertFromHalfHandler(const ConvertForm &form);
Handler convertToHalfHandler(const ConvertForm &form);

} // namespace tenon::emulator::TENON_LEVEL
