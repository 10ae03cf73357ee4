// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/narrow.h"

#include "emulator/machine/half_value.h"
#include "emulator/machine/lanes.h"
#include "support/small_float.h"

#include <algorithm>
#include <cmath>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

uint8_t convert(float value, uint8_t flag) {
  if ((flag & kNarrowRelu) && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0;
  return flag & kNarrowE5M2 ? floatToE5m2(value) : floatToE4m3(value);
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
    float value = i.flag & kNarrowE5M2 ? e5m2ToFloat(bits) : e4m3ToFloat(bits);
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
