// One f16 or bf16 value from and to a float, rounded to nearest even; a NaN becomes the canonical one. For the handlers
// that exist once; the vectorised ones have float_bits.h.
#pragma once

#include <bit>
#include <cstdint>

namespace tenon::emulator {

struct HalfConvert {
  static float widen(uint16_t x) { return static_cast<float>(std::bit_cast<_Float16>(x)); }
  static uint16_t narrow(float x) { return x == x ? std::bit_cast<uint16_t>(static_cast<_Float16>(x)) : 0x7fff; }
};
struct BFloatConvert {
  static float widen(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }
  static uint16_t narrow(float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    return x == x ? static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : 0x7fff;
  }
};

} // namespace tenon::emulator
