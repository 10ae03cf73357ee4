// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/narrow.h"

#include "emulator/machine/half_value.h"
#include "emulator/machine/lanes.h"

#include <algorithm>
#include <cmath>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

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

uint8_t convert(float value, uint8_t flag) {
  if ((flag & kNarrowRelu) && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0;
  return flag & kNarrowE5M2 ? toE5M2(static_cast<double>(value)) : toE4M3(static_cast<double>(value));
}

template <bool FromHalves> void toNarrow(Warp &warp, const Decoded &i, uint32_t mask) {
  uint16_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    float high, low;
    if constexpr (FromHalves) {
      uint32_t pair = at<uint32_t>(warp, i.a)[l];
      high = HalfConvert::widen(static_cast<uint16_t>(pair >> 16));
      low = HalfConvert::widen(static_cast<uint16_t>(pair));
    } else {
      high = at<float>(warp, i.a)[l];
      low = at<float>(warp, i.b)[l];
    }
    result[l] = static_cast<uint16_t>(convert(high, i.flag) << 8 | convert(low, i.flag));
  }
  TENON_LEVEL::write(at<uint16_t>(warp, i.d), result, mask);
}

void fromNarrow(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a);
  uint32_t result[kLanes];
  auto one = [&](uint8_t bits) -> uint32_t {
    float value = i.flag & kNarrowE5M2 ? fromE5M2(bits) : fromE4M3(bits);
    if ((i.flag & kNarrowRelu) && std::signbit(value) && value == value)
      value = 0;
    return HalfConvert::narrow(value);
  };
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = one(static_cast<uint8_t>(a[l] >> 8)) << 16 | one(static_cast<uint8_t>(a[l]));
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

void packConversion(Warp &warp, const Decoded &i, uint32_t mask) {
  const int32_t *a = at<int32_t>(warp, i.a), *b = at<int32_t>(warp, i.b);
  uint32_t bits = static_cast<uint32_t>(i.imm), ones = (1u << bits) - 1, result[kLanes];
  int32_t low = i.flag ? -(1 << (bits - 1)) : 0;
  int32_t high = static_cast<int32_t>(i.flag ? ones >> 1 : ones);
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t upper = static_cast<uint32_t>(std::clamp(a[l], low, high)) & ones;
    uint32_t lower = static_cast<uint32_t>(std::clamp(b[l], low, high)) & ones;
    uint32_t above = i.c == kNoOperand ? 0 : at<uint32_t>(warp, i.c)[l] << (2 * bits);
    result[l] = above | upper << bits | lower;
  }
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
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
Handler toNarrowHandler(bool fromHalves) {
  return fromHalves ? &toNarrow<true> : &toNarrow<false>;
}
Handler fromNarrowHandler() {
  return &fromNarrow;
}
Handler packConversionHandler() {
  return &packConversion;
}

} // namespace tenon::emulator
