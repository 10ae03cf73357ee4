// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st of vectors: a lane's elements lie side by side in memory and in different registers. Whole warps with
// elements of 4 and 8 bytes are transposed in vector registers, everything else goes lane by lane.
#include "emulator/lanes/memory_ops.h"
#include "emulator/machine/decoded_kernel.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

using Quad32 = uint32_t __attribute__((vector_size(16)));
using Pair64 = uint64_t __attribute__((vector_size(16)));

template <typename V> [[gnu::always_inline]] inline V loadVectorAt(const void *from) {
  V value;
  memcpy(&value, from, sizeof value);
  return value;
}

/// Four rows of four become four columns.
[[gnu::always_inline]] inline void transpose(Quad32 (&v)[4]) {
  Quad32 a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  Quad32 c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7), d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

template <typename T, uint32_t Count>
constexpr bool kTransposes = (sizeof(T) == 4 && (Count == 2 || Count == 4)) || (sizeof(T) == 8 && Count == 2);

template <typename T, uint32_t Count> void loadTransposed(T *const (&d)[Count], const LaneAddresses &from) {
  if constexpr (sizeof(T) == 8) {
    for (uint32_t l = 0; l < kLanes; l += 2) {
      Pair64 a = loadVectorAt<Pair64>(from.lane(l)), b = loadVectorAt<Pair64>(from.lane(l + 1));
      Pair64 low = {a[0], b[0]}, high = {a[1], b[1]};
      memcpy(d[0] + l, &low, 16);
      memcpy(d[1] + l, &high, 16);
    }
  } else if constexpr (Count == 4) {
    for (uint32_t l = 0; l < kLanes; l += 4) {
      Quad32 v[4];
      for (uint32_t k = 0; k < 4; ++k)
        v[k] = loadVectorAt<Quad32>(from.lane(l + k));
      transpose(v);
      for (uint32_t k = 0; k < 4; ++k)
        memcpy(d[k] + l, &v[k], 16);
    }
  } else {
    for (uint32_t l = 0; l < kLanes; l += 4) {
      uint64_t pairs[4];
      for (uint32_t k = 0; k < 4; ++k)
        memcpy(&pairs[k], from.lane(l + k), 8);
      Pair64 low = {pairs[0], pairs[1]}, high = {pairs[2], pairs[3]};
      Quad32 a = reinterpret_cast<Quad32 &>(low), b = reinterpret_cast<Quad32 &>(high);
      Quad32 even = __builtin_shufflevector(a, b, 0, 2, 4, 6), odd = __builtin_shufflevector(a, b, 1, 3, 5, 7);
      memcpy(d[0] + l, &even, 16);
      memcpy(d[1] + l, &odd, 16);
    }
  }
}

template <typename T, uint32_t Count> void storeTransposed(const T *const (&value)[Count], const LaneAddresses &to) {
  if constexpr (sizeof(T) == 8) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      Pair64 pair = {value[0][l], value[1][l]};
      memcpy(to.lane(l), &pair, 16);
    }
  } else if constexpr (Count == 4) {
    for (uint32_t l = 0; l < kLanes; l += 4) {
      Quad32 v[4];
      for (uint32_t k = 0; k < 4; ++k)
        v[k] = loadVectorAt<Quad32>(value[k] + l);
      transpose(v);
      for (uint32_t k = 0; k < 4; ++k)
        memcpy(to.lane(l + k), &v[k], 16);
    }
  } else {
    for (uint32_t l = 0; l < kLanes; ++l) {
      uint64_t pair = static_cast<uint64_t>(value[1][l]) << 32 | value[0][l];
      memcpy(to.lane(l), &pair, 8);
    }
  }
}

template <typename T, uint32_t Count, MemorySpace Space> void loadVector(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  T *d[Count];
  alignas(64) T unused[kLanes];
  for (uint32_t k = 0; k < Count; ++k)
    d[k] = operands[k] == kNoOperand ? unused : at<T>(warp, operands[k]);
  if constexpr (kTransposes<T, Count>)
    if (LaneAddresses lanes; mask == kAllLanes && findLanes<Space, sizeof(T) * Count>(warp, i, mask, lanes)) [[likely]]
      return loadTransposed<T, Count>(d, lanes);
  int64_t addresses[kLanes];
  uint32_t good = hostAddresses<Space, sizeof(T) * Count>(warp, i, mask, false, addresses);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    T values[Count]; // all are read before the first is written: a destination may hold the addresses
    memcpy(values, reinterpret_cast<const void *>(addresses[l]), sizeof values);
    for (uint32_t k = 0; k < Count; ++k)
      d[k][l] = values[k];
  }
}

template <typename T, uint32_t Count, MemorySpace Space> void storeVector(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  const T *value[Count];
  for (uint32_t k = 0; k < Count; ++k)
    value[k] = at<T>(warp, operands[k]);
  if constexpr (kTransposes<T, Count>)
    if (LaneAddresses lanes; mask == kAllLanes && findLanes<Space, sizeof(T) * Count>(warp, i, mask, lanes)) [[likely]]
      return storeTransposed<T, Count>(value, lanes);
  int64_t addresses[kLanes];
  uint32_t good = hostAddresses<Space, sizeof(T) * Count>(warp, i, mask, true, addresses);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    T values[Count];
    for (uint32_t k = 0; k < Count; ++k)
      values[k] = value[k][l];
    memcpy(reinterpret_cast<void *>(addresses[l]), values, sizeof values);
  }
}

template <typename T, MemorySpace Space, bool IsStore> Handler ofCount(uint32_t count) {
  switch (count) {
  case 2:
    return IsStore ? &storeVector<T, 2, Space> : &loadVector<T, 2, Space>;
  case 4:
    return IsStore ? &storeVector<T, 4, Space> : &loadVector<T, 4, Space>;
  case 8:
    if constexpr (sizeof(T) == 4)
      return IsStore ? &storeVector<T, 8, Space> : &loadVector<T, 8, Space>;
    return nullptr;
  default:
    return nullptr;
  }
}
template <MemorySpace Space, bool IsStore> Handler ofBytes(uint32_t bytes, uint32_t count) {
  switch (bytes) {
  case 1:
    return ofCount<uint8_t, Space, IsStore>(count);
  case 2:
    return ofCount<uint16_t, Space, IsStore>(count);
  case 4:
    return ofCount<uint32_t, Space, IsStore>(count);
  case 8:
    return ofCount<uint64_t, Space, IsStore>(count);
  default:
    return nullptr;
  }
}
template <bool IsStore> Handler ofSpace(MemorySpace space, uint32_t bytes, uint32_t count) {
  switch (space) {
  case MemorySpace::Shared:
    return ofBytes<MemorySpace::Shared, IsStore>(bytes, count);
  case MemorySpace::Local:
    return ofBytes<MemorySpace::Local, IsStore>(bytes, count);
  case MemorySpace::Generic:
    return ofBytes<MemorySpace::Generic, IsStore>(bytes, count);
  case MemorySpace::Global:
    return ofBytes<MemorySpace::Global, IsStore>(bytes, count);
  case MemorySpace::Param:
    return IsStore ? nullptr : ofBytes<MemorySpace::Generic, false>(bytes, count);
  case MemorySpace::Const:
    return IsStore ? nullptr : ofBytes<MemorySpace::Global, false>(bytes, count);
  case MemorySpace::SharedCluster:
    return nullptr;
  }
  return nullptr;
}

} // namespace

Handler vectorLoadHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  return ofSpace<false>(space, bytes, count);
}
Handler vectorStoreHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  return ofSpace<true>(space, bytes, count);
}

} // namespace tenon::emulator::TENON_LEVEL
