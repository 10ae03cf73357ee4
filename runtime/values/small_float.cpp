// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By hand, in integers: the same bits on every machine, with or without hardware conversions.
#include "runtime/values/small_float.h"

#include <bit>
#include <cmath>

namespace tenon::runtime {

float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

float f16ToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) // zero and subnormals: mantissa * 2^-24
    return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), std::bit_cast<float>(sign | 0x3f800000));
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t floatToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40); // quiet, so that the payload's loss cannot make it infinite
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t floatToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(value))
    return sign | 0x7e00;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) // halfway between the largest f16 and what would follow it
    return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0f, -14)) // subnormal: units of 2^-24; 1024 units are the smallest normal number
    return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  const uint32_t rest = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = rest + 0xfff + (rest >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112u << 10));
}

} // namespace tenon::runtime
