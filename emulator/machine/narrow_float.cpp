// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/narrow_float.h"

#include "emulator/machine/half_value.h"

#include <algorithm>
#include <cmath>

namespace tenon::emulator {
namespace {

struct NarrowFormat {
  int mantissa, smallest; // stored bits; exponent of the smallest normal number
  uint32_t largest;       // bits of the largest number
};
constexpr NarrowFormat kE4M3{3, -6, 0x7e}, kE5M2{2, -14, 0x7b};

uint8_t narrowTo(double value, const NarrowFormat &format) {
  if (value != value)
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  double size = std::fabs(value);
  if (size == 0)
    return sign;
  if (std::isinf(size))
    return static_cast<uint8_t>(sign | format.largest);
  // Units of the last place, halves to even; a carry out of the mantissa is a carry into the exponent.
  int exponent = std::max(std::ilogb(size), format.smallest);
  if (exponent > 32)
    return static_cast<uint8_t>(sign | format.largest);
  uint32_t units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, format.mantissa - exponent)));
  uint32_t bits = (static_cast<uint32_t>(exponent - format.smallest) << format.mantissa) + units;
  return static_cast<uint8_t>(sign | std::min(bits, format.largest));
}

float widenFrom(uint8_t bits, const NarrowFormat &format) {
  uint32_t exponent = (bits & 0x7fu) >> format.mantissa, mantissa = bits & ((1u << format.mantissa) - 1);
  double size = exponent == 0 ? std::ldexp(mantissa, format.smallest - format.mantissa)
                              : std::ldexp(mantissa + (1u << format.mantissa),
                                           format.smallest + static_cast<int>(exponent) - 1 - format.mantissa);
  return static_cast<float>(bits & 0x80 ? -size : size);
}

} // namespace

uint8_t toE4M3(double value) {
  return narrowTo(value, kE4M3);
}
uint8_t toE5M2(double value) {
  return narrowTo(value, kE5M2);
}
float fromE4M3(uint8_t bits) {
  return (bits & 0x7f) == 0x7f ? std::nanf("") : widenFrom(bits, kE4M3);
}
float fromE5M2(uint8_t bits) {
  return HalfConvert::widen(static_cast<uint16_t>(bits << 8));
}

} // namespace tenon::emulator
