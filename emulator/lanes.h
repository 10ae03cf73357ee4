// Loops over the 32 lanes of a warp, for the files of handlers. Everything is in a namespace named after the
// instruction set it is compiled for (TENON_LEVEL, set by meson.build), so that the two builds never share a function.
#pragma once

#include "emulator/handlers.h"
#include "emulator/machine.h"

#include <cstdint>
#include <cstring>
#include <emmintrin.h>

#ifndef TENON_LEVEL
#define TENON_LEVEL v2
#endif

// Registers of one instruction are the same or do not overlap, so lanes never depend on each other.
#if defined(__clang__)
#define TENON_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace tenon::emulator::TENON_LEVEL {

template <typename T> [[gnu::always_inline]] inline T *at(Warp &warp, uint32_t operand) {
  return reinterpret_cast<T *>(warp.bases[operand >> kBaseShift] + (operand & kOffsetMask));
}

/// Writes the lanes of `mask`.
template <typename T> [[gnu::always_inline]] inline void write(T *d, const T (&result)[kLanes], uint32_t mask) {
  TENON_LANE_LOOP
  for (uint32_t l = 0; l < kLanes; ++l)
    d[l] = (mask >> l & 1) ? result[l] : d[l];
}
[[gnu::always_inline]] inline void writeMask(Warp &warp, uint32_t operand, uint32_t value, uint32_t mask) {
  uint32_t *d = at<uint32_t>(warp, operand);
  *d = (*d & ~mask) | (value & mask);
}

template <typename D, typename A, typename F> void unary(Warp &warp, const Decoded &i, uint32_t mask) {
  D *d = at<D>(warp, i.d);
  const A *a = at<A>(warp, i.a);
  F f;
  if (mask == kAllLanes) {
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = f(a[l]);
    return;
  }
  D result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = f(a[l]);
  write(d, result, mask);
}

template <typename D, typename A, typename B, typename F> void binary(Warp &warp, const Decoded &i, uint32_t mask) {
  D *d = at<D>(warp, i.d);
  const A *a = at<A>(warp, i.a);
  const B *b = at<B>(warp, i.b);
  F f;
  if (mask == kAllLanes) {
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = f(a[l], b[l]);
    return;
  }
  D result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = f(a[l], b[l]);
  write(d, result, mask);
}

template <typename D, typename A, typename B, typename C, typename F>
void ternary(Warp &warp, const Decoded &i, uint32_t mask) {
  D *d = at<D>(warp, i.d);
  const A *a = at<A>(warp, i.a);
  const B *b = at<B>(warp, i.b);
  const C *c = at<C>(warp, i.c);
  F f;
  if (mask == kAllLanes) {
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = f(a[l], b[l], c[l]);
    return;
  }
  D result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = f(a[l], b[l], c[l]);
  write(d, result, mask);
}

/// Bit l of the result is bit 7 of bytes[l].
[[gnu::always_inline]] inline uint32_t packMask(const uint8_t *bytes) {
  __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes));
  __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + 16));
  return static_cast<uint32_t>(_mm_movemask_epi8(low)) | static_cast<uint32_t>(_mm_movemask_epi8(high)) << 16;
}

/// One bit per lane: f(a, b).
template <typename A, typename F> [[gnu::always_inline]] inline uint32_t compareLanes(Warp &warp, const Decoded &i) {
  const A *a = at<A>(warp, i.a);
  const A *b = at<A>(warp, i.b);
  alignas(16) uint8_t bytes[kLanes];
  F f;
  for (uint32_t l = 0; l < kLanes; ++l)
    bytes[l] = f(a[l], b[l]) ? 0xff : 0;
  return packMask(bytes);
}

/// The second half of setp and set: combines with the third predicate. Returns the value for `d`; `negated` gets that
/// of the second destination.
[[gnu::always_inline]] inline uint32_t combine(Warp &warp, const Decoded &i, uint32_t value, uint32_t &negated) {
  negated = ~value;
  BoolOp op = static_cast<BoolOp>(i.flag & 0xf);
  if (op == BoolOp::None)
    return value;
  uint32_t third = *at<uint32_t>(warp, i.c);
  if (i.flag & kThirdNegated)
    third = ~third;
  switch (op) {
  case BoolOp::None:
    break;
  case BoolOp::And:
    value &= third;
    negated &= third;
    break;
  case BoolOp::Or:
    value |= third;
    negated |= third;
    break;
  case BoolOp::Xor:
    value ^= third;
    negated ^= third;
    break;
  }
  return value;
}

template <typename A, typename F> void setPredicate(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t negated, value = combine(warp, i, compareLanes<A, F>(warp, i), negated);
  if (i.d != kNoOperand)
    writeMask(warp, i.d, value, mask);
  if (i.e != kNoOperand)
    writeMask(warp, i.e, negated, mask);
}

/// set: `imm` is the bit pattern of true.
template <typename A, typename D, typename F> void setValue(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t negated, value = combine(warp, i, compareLanes<A, F>(warp, i), negated);
  D result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = (value >> l & 1) ? static_cast<D>(i.imm) : D(0);
  write(at<D>(warp, i.d), result, mask);
}

} // namespace tenon::emulator::TENON_LEVEL
