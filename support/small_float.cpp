// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon {
namespace {

/// A format with `mantissa` stored bits below `exponent` bits, subnormal numbers included.
struct Format {
  int mantissa, exponent;
  int bias() const { return (1 << (exponent - 1)) - 1; }
};
constexpr Format kF16{10, 5}, kE4m3{3, 4}, kE5m2{2, 5};
constexpr uint32_t kFloatInfinity = 0x7f800000;

/// The number of `bits`, without a sign and neither infinity nor NaN.
float widen(uint32_t bits, Format format) {
  const uint32_t mantissa = bits & ((1u << format.mantissa) - 1);
  const int exponent = static_cast<int>(bits >> format.mantissa);
  if (exponent > 0)
    return std::bit_cast<float>(static_cast<uint32_t>(exponent - format.bias() + 127) << 23 |
                                mantissa << (23 - format.mantissa));
  if (mantissa == 0)
    return 0;
  // Its leading one becomes the hidden one of a float.
  const int leading = std::bit_width(mantissa) - 1;
  return std::bit_cast<float>(static_cast<uint32_t>(leading + 1 - format.bias() - format.mantissa + 127) << 23 |
                              (mantissa << (23 - leading) & 0x7fffff));
}

/// The bits of `size`, a float's without its sign and not NaN, as if exponents went on for ever.
uint32_t narrow(uint32_t size, Format format) {
  const int exponent = static_cast<int>(size >> 23) - 127 + format.bias(); // in the format
  const uint32_t significand = (size & 0x7fffff) | (size >= 0x800000 ? 0x800000 : 0);
  // Numbers below the smallest normal one keep fewer bits.
  const int shift = 23 - format.mantissa + std::max(0, 1 - exponent);
  if (shift > 24)
    return 0; // below half of the smallest
  const uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  uint32_t kept = significand >> shift;
  kept += rest > half || (rest == half && (kept & 1));
  // The leading one of a normal number carries into the exponent by itself, and so does rounding up.
  return kept + (static_cast<uint32_t>(std::max(0, exponent - 1)) << format.mantissa);
}

float withSign(float size, bool isNegative) {
  return isNegative ? -size : size;
}

uint8_t narrowSaturating(float value, Format format, uint32_t largest) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffff;
  if (size > kFloatInfinity)
    return 0x7f;
  return static_cast<uint8_t>((bits >> 24 & 0x80) | std::min(narrow(size, format), largest));
}

} // namespace

float f16ToFloat(uint16_t bits) {
  const uint32_t size = bits & 0x7fff, sign = uint32_t(bits & 0x8000) << 16;
  if (size >= 0x7c00)
    return std::bit_cast<float>(sign | kFloatInfinity | (size & 0x3ff) << 13);
  return withSign(widen(size, kF16), sign != 0);
}

float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

float e4m3ToFloat(uint8_t bits) {
  const uint32_t size = bits & 0x7f;
  return size == 0x7f ? std::bit_cast<float>(0x7fc00000) : withSign(widen(size, kE4m3), bits & 0x80);
}

float e5m2ToFloat(uint8_t bits) {
  return f16ToFloat(static_cast<uint16_t>(bits << 8));
}

uint16_t floatToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (size > kFloatInfinity)
    return sign | 0x7e00;
  return static_cast<uint16_t>(sign | std::min(narrow(size, kF16), 0x7c00u));
}

uint16_t floatToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > kFloatInfinity)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // quiet, so that the payload's loss cannot make it infinite
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float doubleToOddFloat(double value) {
  auto rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || std::isnan(value))
    return rounded;
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    rounded = std::nextafter(rounded, 0.0F);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) | 1);
}

uint8_t floatToE4m3(float value) {
  return narrowSaturating(value, kE4m3, 0x7e);
}

uint8_t floatToE5m2(float value) {
  return narrowSaturating(value, kE5m2, 0x7b);
}

} // namespace tenon
