// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit-level helpers of the floating-point handlers: subnormal flush, canonical NaN, saturation, and exact narrowing of
// a double to a small format in any rounding mode. In a namespace per instruction set, like lanes.h.
#pragma once

#include "emulator/machine/lanes.h"

#include <bit>
#include <cmath>
#include <type_traits>
#include <xmmintrin.h>

namespace tenon::emulator::TENON_LEVEL {

/// .ftz: subnormals become zero of the same sign.
[[gnu::always_inline]] inline float flush(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
/// Single-precision results that are NaN are always this NaN. Asked of the bits: from `x == x` a compiler may reason
/// about the operation that made x, and may take a NaN's bits for whatever suits it.
[[gnu::always_inline]] inline float canonical(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}
[[gnu::always_inline]] inline double canonical(double x) {
  return x;
}
/// .sat: [0, 1], NaN gives +0.
template <typename T> [[gnu::always_inline]] inline T saturate(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

template <bool Ftz, typename T> [[gnu::always_inline]] inline T input(T x) {
  if constexpr (Ftz && std::is_same_v<T, float>)
    return flush(x);
  else
    return x;
}
template <bool Ftz, bool Sat, typename T> [[gnu::always_inline]] inline T output(T x) {
  x = canonical(x);
  if constexpr (Ftz && std::is_same_v<T, float>)
    x = flush(x);
  if constexpr (Sat)
    x = saturate(x);
  return x;
}

/// Runs a handler under a directed rounding mode. The handler's operands come from memory after the first fence and its
/// results are in memory before the second, so the compiler cannot move the arithmetic out.
template <Handler Inner, uint32_t Mode> void directed(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t saved = _mm_getcsr();
  _mm_setcsr((saved & ~0x6000u) | Mode);
  asm volatile("" ::: "memory");
  Inner(warp, i, mask);
  asm volatile("" ::: "memory");
  _mm_setcsr(saved);
}
inline constexpr uint32_t kRoundDown = 0x2000, kRoundUp = 0x4000, kRoundZero = 0x6000;
template <Handler Inner> Handler rounded(Rounding rounding) {
  switch (rounding) {
  case Rounding::None:
  case Rounding::Rn:
    return Inner;
  case Rounding::Rz:
    return &directed<Inner, kRoundZero>;
  case Rounding::Rm:
    return &directed<Inner, kRoundDown>;
  case Rounding::Rp:
    return &directed<Inner, kRoundUp>;
  default:
    return nullptr;
  }
}

/// A format of `Mantissa` stored bits and `Exponent` bits, IEEE-like with infinities and NaN.
struct HalfFormat {
  static constexpr int kMantissa = 10, kExponent = 5;
  static constexpr uint16_t kNan = 0x7fff;
};
struct BFloatFormat {
  static constexpr int kMantissa = 7, kExponent = 8;
  static constexpr uint16_t kNan = 0x7fff;
};

/// Rounds `value` once to the format. `sticky`: the true value differs from `value` in bits below it, away from zero.
template <typename Format> inline uint16_t narrow(double value, Rounding rounding) {
  constexpr int kM = Format::kMantissa, kBias = (1 << (Format::kExponent - 1)) - 1,
                kMaxExp = (1 << Format::kExponent) - 1;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
  bits &= ~(1ull << 63);
  if (bits > 0x7ff0000000000000ull)
    return Format::kNan;
  if (bits == 0x7ff0000000000000ull)
    return static_cast<uint16_t>(sign | kMaxExp << kM);
  if (bits == 0)
    return sign;
  int exponent = static_cast<int>(bits >> 52);
  uint64_t significand = bits & 0xfffffffffffffull;
  if (exponent == 0)
    exponent = 1;
  else
    significand |= 1ull << 52;
  // Units of the result's last place: normal numbers keep kM bits below the leading one, subnormals fewer.
  int target = exponent - 1023 + kBias;
  int shift = 52 - kM + (target < 1 ? 1 - target : 0);
  uint64_t kept = shift > 63 ? 0 : significand >> shift;
  uint64_t rest = shift > 63 ? 1 : significand & ((1ull << shift) - 1);
  uint64_t half = shift > 63 ? 2 : 1ull << (shift - 1);
  bool up = false;
  switch (rounding) {
  case Rounding::Rz:
    break;
  case Rounding::Rm:
    up = sign && rest;
    break;
  case Rounding::Rp:
    up = !sign && rest;
    break;
  case Rounding::Rna:
    up = rest >= half;
    break;
  default:
    up = rest > half || (rest == half && (kept & 1));
    break;
  }
  kept += up;
  // The leading one of a normal number carries into the exponent field by itself.
  uint64_t result = target < 1 ? kept : kept + (static_cast<uint64_t>(target - 1) << kM);
  if (result >= static_cast<uint64_t>(kMaxExp) << kM) {
    bool toInfinity =
        !(rounding == Rounding::Rz || (rounding == Rounding::Rm && !sign) || (rounding == Rounding::Rp && sign));
    result = toInfinity ? static_cast<uint64_t>(kMaxExp) << kM : (static_cast<uint64_t>(kMaxExp) << kM) - 1;
  }
  return static_cast<uint16_t>(sign | result);
}

template <typename Format> [[gnu::always_inline]] inline float widen(uint16_t value);
template <> [[gnu::always_inline]] inline float widen<BFloatFormat>(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}
template <> [[gnu::always_inline]] inline float widen<HalfFormat>(uint16_t value) {
#ifdef __F16C__
  return static_cast<float>(std::bit_cast<_Float16>(value));
#else // a call for each value otherwise
  uint32_t size = value & 0x7fffu, sign = (value & 0x8000u) << 16, bits = size << 13;
  float finite = std::bit_cast<float>(bits) * 0x1p112f; // subnormals too
  uint32_t special = bits | 0x7f800000u | (size > 0x7c00 ? 0x00400000u : 0);
  return std::bit_cast<float>(sign | (size >= 0x7c00 ? special : std::bit_cast<uint32_t>(finite)));
#endif
}
/// Nearest even from float, the common case.
template <typename Format> [[gnu::always_inline]] inline uint16_t narrowNearest(float value);
template <> [[gnu::always_inline]] inline uint16_t narrowNearest<BFloatFormat>(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t roundedBits = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(value == value ? roundedBits : 0x7fffu);
}
template <> [[gnu::always_inline]] inline uint16_t narrowNearest<HalfFormat>(float value) {
#ifdef __F16C__
  uint16_t bits = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  return value == value ? bits : uint16_t(0x7fff);
#else
  uint32_t size = std::bit_cast<uint32_t>(value) & 0x7fffffffu, sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000u;
  uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u; // the addition rounds
  uint32_t bits = size < 0x38800000u ? subnormal : size >= 0x47800000u ? 0x7c00u : normal;
  return static_cast<uint16_t>(size > 0x7f800000u ? 0x7fffu : sign | bits);
#endif
}

// Rounding to odd: what is not exact gets a last bit of 1, so that rounding it again, to a format at least two bits
// shorter, gives what rounding once would have given.

/// a + b, to odd.
template <typename T> [[gnu::always_inline]] inline T addOdd(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  T sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part); // Knuth: sum + lost is exact
  Bits bits = std::bit_cast<Bits>(sum);
  bool isInexact = lost < 0 || lost > 0, isNegative = bits >> (8 * sizeof(T) - 1),
       isTooSmall = (lost > 0) != isNegative;
  Bits odd = bits & 1 ? bits : isTooSmall ? bits + 1 : bits - 1;
  return isInexact ? std::bit_cast<T>(odd) : sum; // NaN, infinity: `lost` is NaN
}
/// To single precision, to odd.
[[gnu::always_inline]] inline float narrowOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = static_cast<double>(nearest);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bool isInexact = back < value || back > value, isTooSmall = std::fabs(back) < std::fabs(value);
  uint32_t odd = bits & 1 ? bits : isTooSmall ? bits + 1 : bits - 1;
  return isInexact ? std::bit_cast<float>(odd) : nearest;
}

} // namespace tenon::emulator::TENON_LEVEL
