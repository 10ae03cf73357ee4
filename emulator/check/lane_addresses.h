// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the 32 lanes of a memory instruction point: a host base and 32 offsets of 32 bits, checked against the bounds
// of one piece of memory all at once. The piece is the block's shared memory, the thread's local memory, or the range
// of global memory that this instruction was last found to access (Executor::ranges). Lanes that do not fit one piece
// take the slow side (access_check.h), which knows every piece and reports faults.
#pragma once

#include "emulator/check/access_check.h"
#include "emulator/machine/lanes.h"

#include <algorithm>
#include <immintrin.h>

namespace tenon::emulator::TENON_LEVEL {

// Vectors are written out here: of plain loops over 32 lanes a compiler makes scalar code as soon as it unrolls them.
/// Eight lanes of 32 bits: one AVX register, or two of SSE.
using Eight = uint32_t __attribute__((vector_size(32)));
using Four64 = uint64_t __attribute__((vector_size(32)));
inline constexpr uint32_t kEights = kLanes / 8;
inline constexpr Eight kCount8 = {0, 1, 2, 3, 4, 5, 6, 7}, kBits8 = {1, 2, 4, 8, 16, 32, 64, 128};

[[gnu::always_inline]] inline bool isZero(const Eight &value) {
#ifdef __AVX__
  __m256i v = reinterpret_cast<const __m256i &>(value);
  return _mm256_testz_si256(v, v);
#else
  const __m128i *v = reinterpret_cast<const __m128i *>(&value);
  return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_or_si128(v[0], v[1]), _mm_setzero_si128())) == 0xffff;
#endif
}
/// All ones in the lanes of the low eight bits of `mask`.
[[gnu::always_inline]] inline void spread(uint32_t mask, Eight &out) {
  Eight all = Eight{} + mask;
  out = reinterpret_cast<Eight>((all & kBits8) == kBits8);
}
[[gnu::always_inline]] inline void loadEightLanes(const uint32_t *from, Eight &out) {
  memcpy(&out, from, sizeof out);
}
/// The low (Half 0) or high halves of eight 64-bit lanes.
template <int Half> [[gnu::always_inline]] inline void halves(const Four64 &a, const Four64 &b, Eight &out) {
  const Eight &x = reinterpret_cast<const Eight &>(a), &y = reinterpret_cast<const Eight &>(b);
  out = __builtin_shufflevector(x, y, Half, 2 + Half, 4 + Half, 6 + Half, 8 + Half, 10 + Half, 12 + Half, 14 + Half);
}

struct LaneAddresses {
  Eight offsets[kEights];
  uint8_t *base = nullptr;
  [[gnu::always_inline]] uint32_t offset(uint32_t l) const { return reinterpret_cast<const uint32_t *>(offsets)[l]; }
  [[gnu::always_inline]] uint8_t *lane(uint32_t l) const { return base + offset(l); }
};

/// A piece of memory: kernel addresses from `origin` on, `bytes` of them, at `host`.
struct Piece {
  uint64_t origin;
  uint8_t *host;
  uint64_t bytes;
  uint32_t laneStride = 0; // local memory: what lies between two lanes
};
template <MemorySpace Space> [[gnu::always_inline]] inline Piece pieceOf(Warp &warp, const Decoded &i, uint64_t first) {
  auto shared = [&](uint64_t window) -> Piece {
    return {window + warp.sharedBegin, warp.shared + warp.sharedBegin, warp.sharedEnd - warp.sharedBegin};
  };
  auto local = [&](uint64_t window) -> Piece {
    return {window + kLocalStart, warp.local + kLocalStart, warp.localStride - kLocalStart, warp.localStride};
  };
  if constexpr (Space == MemorySpace::Shared)
    return shared(0);
  if constexpr (Space == MemorySpace::Local)
    return local(0);
  if constexpr (Space == MemorySpace::Generic) {
    if (first - kSharedWindow < kWindowBytes) [[unlikely]] // another block's: the slow side
      return shared(kSharedWindow);
    if (first - kLocalWindow < kWindowBytes) [[unlikely]]
      return local(kLocalWindow);
  }
  const Executor &executor = *warp.executor;
  const CheckedRange &range = executor.ranges[i.target];
  return {static_cast<uint64_t>(range.low),
          reinterpret_cast<uint8_t *>(static_cast<uint64_t>(range.low) + executor.hostBias),
          static_cast<uint64_t>(range.high - range.low)};
}

/// False: some lane of `mask` needs the slow side. Lanes that do nothing get the offset of one that does.
template <MemorySpace Space, uint32_t Size>
[[gnu::always_inline]] inline bool findLanes(Warp &warp, const Decoded &i, uint32_t mask, LaneAddresses &out) {
  uint32_t firstLane = static_cast<uint32_t>(__builtin_ctz(mask)), first;
  Piece piece;
  Eight above = {}; // bits of a distance that 32 bits do not hold
  Eight(&offsets)[kEights] = out.offsets;
  if (i.addressMode == AddressMode::Register64) {
    const uint64_t *a = at<uint64_t>(warp, i.a);
    uint64_t imm = static_cast<uint64_t>(i.imm);
    piece = pieceOf<Space>(warp, i, a[firstLane] + imm);
    uint64_t add = imm - piece.origin;
    first = static_cast<uint32_t>(a[firstLane] + add);
    for (uint32_t g = 0; g < kEights; ++g) {
      Four64 x, y;
      memcpy(&x, a + 8 * g, sizeof x);
      memcpy(&y, a + 8 * g + 4, sizeof y);
      x += add;
      y += add;
      halves<0>(x, y, offsets[g]);
      if constexpr (Space != MemorySpace::Shared) { // there, 32 bits of the register are the address
        Eight high;
        halves<1>(x, y, high);
        if (mask != kAllLanes) {
          Eight active;
          spread(mask >> (8 * g), active);
          high &= active;
        }
        above |= high;
      }
    }
  } else if (i.addressMode == AddressMode::Register32 && Space == MemorySpace::Shared) {
    const uint32_t *a = at<uint32_t>(warp, i.a);
    piece = pieceOf<Space>(warp, i, 0);
    uint32_t add = static_cast<uint32_t>(i.imm) - static_cast<uint32_t>(piece.origin);
    first = a[firstLane] + add;
    for (uint32_t g = 0; g < kEights; ++g) {
      loadEightLanes(a + 8 * g, offsets[g]);
      offsets[g] += add;
    }
  } else if (i.addressMode == AddressMode::FrameLocal && Space == MemorySpace::Local) {
    piece = pieceOf<Space>(warp, i, 0);
    first = warp.frame->localBase + static_cast<uint32_t>(i.imm) - static_cast<uint32_t>(piece.origin);
    for (uint32_t g = 0; g < kEights; ++g)
      offsets[g] = Eight{} + first;
  } else {
    return false;
  }
  if (mask != kAllLanes)
    for (uint32_t g = 0; g < kEights; ++g) {
      Eight active;
      spread(mask >> (8 * g), active);
      offsets[g] = (offsets[g] & active) | ((Eight{} + first) & ~active);
    }
  // Alignment is asked of the offsets: a piece that begins elsewhere (registered host memory) takes the slow side.
  if (piece.bytes < Size || (piece.origin & (Size - 1))) [[unlikely]]
    return false;
  Eight most = {}, bits = {},
        limit = Eight{} + static_cast<uint32_t>(std::min<uint64_t>(piece.bytes - Size, UINT32_MAX));
  for (uint32_t g = 0; g < kEights; ++g) {
    most = offsets[g] > most ? offsets[g] : most;
    bits |= offsets[g];
  }
  Eight wrong = above | (bits & (Size - 1)) | reinterpret_cast<Eight>(most > limit);
  if (!isZero(wrong)) [[unlikely]]
    return false;
  if (piece.laneStride)
    for (uint32_t g = 0; g < kEights; ++g)
      offsets[g] += (kCount8 + 8 * g) * piece.laneStride;
  out.base = piece.host;
  return true;
}

/// Host addresses of the lanes that may be accessed, by the quick side or the slow one.
template <MemorySpace Space, uint32_t Size>
[[gnu::always_inline]] inline uint32_t hostAddresses(Warp &warp, const Decoded &i, uint32_t mask, bool isWrite,
                                                     int64_t *addresses) {
  LaneAddresses lanes;
  // Shadow memory wants to see every access.
  if (warp.executor->launch->checks.shadowed() || !findLanes<Space, Size>(warp, i, mask, lanes)) [[unlikely]]
    return resolveLanes(warp, i, mask, Space, Size, isWrite, addresses);
  for (uint32_t l = 0; l < kLanes; ++l)
    addresses[l] = reinterpret_cast<int64_t>(lanes.lane(l));
  return mask;
}

} // namespace tenon::emulator::TENON_LEVEL
