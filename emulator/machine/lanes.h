// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the 32 lanes of a warp, for the files of handlers. Everything is in a namespace named after the
// instruction set it is compiled for (TENON_LEVEL, set by meson.build), so that the two builds never share a function.
#pragma once

#include "emulator/machine/handlers.h"
#include "emulator/machine/machine.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#ifndef TENON_LEVEL
#define TENON_LEVEL v2
#endif

// Registers of one instruction are the same or do not overlap, so lanes never depend on each other. A loop over them is
// worth its 32 lanes only when it is vectorised, and a compiler that unrolls it first makes scalar code of it: so it
// must not. What one lane computes may hold branches; it should hold no call that is not inlined.
#define TENON_LANE_LOOP _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
// What such a loop calls for each lane. Inlined early, or the compiler forgets what the loop promises and asks at run
// time whether registers overlap.
#define TENON_LANE(l) (uint32_t l) __attribute__((always_inline))

namespace tenon::emulator::TENON_LEVEL {

template <typename T> [[gnu::always_inline]] inline T *at(Warp &warp, uint32_t operand) {
  return reinterpret_cast<T *>(warp.bases[operand >> kBaseShift] + (operand & kOffsetMask));
}

/// 32 bytes of lanes as unsigned numbers of Bytes each: one AVX register, or two of SSE.
template <uint32_t Bytes> struct LaneBlock;
template <> struct LaneBlock<2> {
  using Element = uint16_t;
  using Type = uint16_t __attribute__((vector_size(32)));
  static constexpr Type kBits = {1,      2,      4,       8,       1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
};
template <> struct LaneBlock<4> {
  using Element = uint32_t;
  using Type = uint32_t __attribute__((vector_size(32)));
  static constexpr Type kBits = {1, 2, 4, 8, 16, 32, 64, 128};
};
template <> struct LaneBlock<8> {
  using Element = uint64_t;
  using Type = uint64_t __attribute__((vector_size(32)));
  static constexpr Type kBits = {1, 2, 4, 8};
};

/// d = mask ? a : b, lane by lane. d may be a or b.
template <typename T> [[gnu::always_inline]] inline void blend(T *d, const T *a, const T *b, uint32_t mask) {
  if constexpr (sizeof(T) == 1) {
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = (mask >> l & 1) ? a[l] : b[l];
  } else {
    using Block = typename LaneBlock<sizeof(T)>::Type;
    constexpr Block kBits = LaneBlock<sizeof(T)>::kBits;
    constexpr uint32_t kCount = sizeof(Block) / sizeof(T);
    for (uint32_t l = 0; l < kLanes; l += kCount) {
      Block x, y, chosen = kBits & static_cast<typename LaneBlock<sizeof(T)>::Element>(mask >> l);
      memcpy(&x, a + l, sizeof x);
      memcpy(&y, b + l, sizeof y);
      chosen = reinterpret_cast<Block>(chosen == kBits);
#ifdef __AVX__
      asm("" : "+x"(y)); // or the compiler makes a masked store of it, which some processors are very slow at
#endif
      x = (x & chosen) | (y & ~chosen);
      memcpy(d + l, &x, sizeof x);
    }
  }
}

/// Writes the lanes of `mask`.
template <typename T> [[gnu::always_inline]] inline void write(T *d, const T (&result)[kLanes], uint32_t mask) {
  blend(d, result, d, mask);
}
[[gnu::always_inline]] inline void writeMask(Warp &warp, uint32_t operand, uint32_t value, uint32_t mask) {
  uint32_t *d = at<uint32_t>(warp, operand);
  *d = (*d & ~mask) | (value & mask);
}

/// All ones in the lanes of `mask`.
template <typename U> [[gnu::always_inline]] inline void spreadMask(uint32_t mask, U (&out)[kLanes]) {
  using Block = typename LaneBlock<sizeof(U)>::Type;
  constexpr Block kBits = LaneBlock<sizeof(U)>::kBits;
  constexpr uint32_t kCount = sizeof(Block) / sizeof(U);
  for (uint32_t l = 0; l < kLanes; l += kCount) {
    Block chosen = kBits & static_cast<U>(mask >> l);
    chosen = reinterpret_cast<Block>(chosen == kBits);
#ifdef __AVX__
    asm("" : "+x"(chosen)); // or the compiler makes masked stores of what follows, which some processors are slow at
#endif
    memcpy(out + l, &chosen, sizeof chosen);
  }
}

/// d[l] = compute(l) for the lanes of `mask`; it is computed for all of them.
template <typename D, typename F> [[gnu::always_inline]] inline void forLanes(D *d, uint32_t mask, F compute) {
  if (mask == kAllLanes) {
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = compute(l);
    return;
  }
  if constexpr (sizeof(D) == 1) {
    D result[kLanes];
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l)
      result[l] = compute(l);
    write(d, result, mask);
  } else {
    using U = typename LaneBlock<sizeof(D)>::Element;
    U chosen[kLanes];
    spreadMask(mask, chosen);
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l) {
      U old = std::bit_cast<U>(d[l]), value = std::bit_cast<U>(static_cast<D>(compute(l)));
      d[l] = std::bit_cast<D>(static_cast<U>(old ^ ((old ^ value) & chosen[l])));
    }
  }
}

template <typename D, typename A, typename F> void unary(Warp &warp, const Decoded &i, uint32_t mask) {
  const A *a = at<A>(warp, i.a);
  forLanes(at<D>(warp, i.d), mask, [=] TENON_LANE(l) -> D { return F{}(a[l]); });
}

template <typename D, typename A, typename B, typename F> void binary(Warp &warp, const Decoded &i, uint32_t mask) {
  const A *a = at<A>(warp, i.a);
  const B *b = at<B>(warp, i.b);
  forLanes(at<D>(warp, i.d), mask, [=] TENON_LANE(l) -> D { return F{}(a[l], b[l]); });
}

template <typename D, typename A, typename B, typename C, typename F>
void ternary(Warp &warp, const Decoded &i, uint32_t mask) {
  const A *a = at<A>(warp, i.a);
  const B *b = at<B>(warp, i.b);
  const C *c = at<C>(warp, i.c);
  forLanes(at<D>(warp, i.d), mask, [=] TENON_LANE(l) -> D { return F{}(a[l], b[l], c[l]); });
}

/// All lanes of a register as one value; the compiler splits it into the vectors that there are.
template <typename T> using Lanes = T __attribute__((vector_size(kLanes * sizeof(T))));
template <typename T> [[gnu::always_inline]] inline void readLanes(const T *from, Lanes<T> &out) {
  memcpy(&out, from, sizeof out);
}

/// Bit l of the result says whether lane l is all ones; the others are zero. V: a Lanes of integers.
template <typename V> [[gnu::always_inline]] inline uint32_t packMask(const V &truth) {
  using Bits = bool __attribute__((ext_vector_type(32)));
  return std::bit_cast<uint32_t>(__builtin_convertvector(truth, Bits));
}

/// One bit per lane: F of two Lanes, a relation.
template <typename A, typename F> [[gnu::always_inline]] inline uint32_t compareLanes(Warp &warp, const Decoded &i) {
  Lanes<A> a, b;
  readLanes(at<A>(warp, i.a), a);
  readLanes(at<A>(warp, i.b), b);
  return packMask(F{}(a, b));
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
  D truth = static_cast<D>(i.imm);
  forLanes(at<D>(warp, i.d), mask, [=] TENON_LANE(l) -> D { return (value >> l & 1) ? truth : D(0); });
}

} // namespace tenon::emulator::TENON_LEVEL
