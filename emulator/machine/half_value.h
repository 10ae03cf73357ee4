// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One f16 or bf16 value from and to a float, rounded to nearest even, and the sum of two floats as memory adds them; a
// NaN becomes the canonical one. For the handlers that exist once; the vectorised ones have float_bits.h.
#pragma once

#include "support/small_float.h"

#include <bit>
#include <cstdint>

namespace tenon::emulator {

struct HalfConvert {
  static float widen(uint16_t x) { return f16ToFloat(x); }
  static uint16_t narrow(float x) { return x == x ? floatToF16(x) : 0x7fff; }
};
struct BFloatConvert {
  static float widen(uint16_t x) { return bf16ToFloat(x); }
  static uint16_t narrow(float x) { return x == x ? floatToBf16(x) : 0x7fff; }
};

/// Adds in single precision; NaN results are the one NaN that there is.
inline float addSingle(float a, float b, bool ftz) {
  auto flushed = [&](float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>(ftz && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
  };
  uint32_t bits = std::bit_cast<uint32_t>(flushed(flushed(a) + flushed(b)));
  return std::bit_cast<float>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}

} // namespace tenon::emulator
