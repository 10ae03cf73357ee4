// ld and st: addresses of the active lanes, one bounds check for all of them, then the data. The check is two
// comparisons against the range that this instruction was last found to access, kept per instruction; only a miss looks
// into the allocation table (check.cpp). Lanes that read neighbouring elements, as coalesced code does, are copied at
// once.
#include "emulator/check.h"
#include "emulator/lanes.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

struct Addresses {
  alignas(64) int64_t at[kLanes];
};

/// Byte addresses of all lanes; inactive lanes repeat the first active one, so that range checks need no mask.
[[gnu::always_inline]] inline void addressesOf(Warp &warp, const Decoded &i, uint32_t mask, Addresses &out) {
  switch (i.addressMode) {
  case AddressMode::Register64: {
    const uint64_t *a = at<uint64_t>(warp, i.a); // wraps: lanes that do nothing may hold anything
    uint64_t offset = static_cast<uint64_t>(i.imm);
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] = static_cast<int64_t>(a[l] + offset);
    break;
  }
  case AddressMode::Register32: {
    const uint32_t *a = at<uint32_t>(warp, i.a);
    uint32_t offset = static_cast<uint32_t>(i.imm);
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] = a[l] + offset;
    break;
  }
  case AddressMode::FrameLocal: {
    int64_t address = warp.frame->localBase + i.imm;
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] = address;
    break;
  }
  }
  if (mask != kAllLanes) {
    int64_t first = out.at[__builtin_ctz(mask)];
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] = (mask >> l & 1) ? out.at[l] : first;
  }
}

struct Extent {
  int64_t low, high;
  uint64_t bits; // or of all addresses: alignment
};
[[gnu::always_inline]] inline Extent extentOf(const Addresses &addresses) {
  int64_t low = addresses.at[0], high = addresses.at[0];
  uint64_t bits = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    int64_t a = addresses.at[l];
    low = a < low ? a : low;
    high = a > high ? a : high;
    bits |= static_cast<uint64_t>(a);
  }
  return {low, high, bits};
}

/// Host addresses of the lanes that may be accessed; a fault is set when it is not all of `mask`.
template <MemorySpace Space>
[[gnu::always_inline]] inline uint32_t resolve(Warp &warp, const Decoded &i, uint32_t mask, uint32_t size, bool isWrite,
                                               Addresses &out) {
  addressesOf(warp, i, mask, out);
  if constexpr (Space == MemorySpace::Shared) {
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] = static_cast<uint32_t>(out.at[l]);
    Extent extent = extentOf(out);
    if (extent.low < warp.sharedBegin || extent.high + size > warp.sharedEnd || (extent.bits & (size - 1))) [[unlikely]]
      return resolveSlowly(warp, i, mask, Space, size, isWrite, out.at);
    int64_t base = reinterpret_cast<int64_t>(warp.shared);
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] += base;
    return mask;
  } else if constexpr (Space == MemorySpace::Local) {
    Extent extent = extentOf(out);
    if (extent.low < kLocalStart || extent.high > int64_t(warp.localStride) - size || (extent.bits & (size - 1)))
        [[unlikely]]
      return resolveSlowly(warp, i, mask, Space, size, isWrite, out.at);
    int64_t base = reinterpret_cast<int64_t>(warp.local);
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] += base + static_cast<int64_t>(l) * warp.localStride;
    return mask;
  } else {
    Executor &executor = *warp.executor;
    const CheckedRange &range = executor.ranges[i.target];
    Extent extent = extentOf(out);
    if (extent.low < range.low || extent.high > range.high - size || (extent.bits & (size - 1))) [[unlikely]]
      return resolveSlowly(warp, i, mask, Space, size, isWrite, out.at);
    int64_t bias = static_cast<int64_t>(executor.hostBias);
    for (uint32_t l = 0; l < kLanes; ++l)
      out.at[l] += bias;
    return mask;
  }
}

template <uint32_t Step> [[gnu::always_inline]] inline bool contiguous(const Addresses &addresses) {
  uint64_t different = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    different |= static_cast<uint64_t>(addresses.at[l] - addresses.at[0]) ^ (l * Step);
  return different == 0;
}

/// Shared memory is the hottest: 32-bit offsets all the way. False: some lane needs the slow side.
[[gnu::always_inline]] inline bool sharedOffsets(Warp &warp, const Decoded &i, uint32_t mask, uint32_t size,
                                                 uint32_t (&offsets)[kLanes]) {
  uint32_t added = static_cast<uint32_t>(i.imm);
  if (i.addressMode == AddressMode::Register32) {
    const uint32_t *a = at<uint32_t>(warp, i.a);
    for (uint32_t l = 0; l < kLanes; ++l)
      offsets[l] = a[l] + added;
  } else {
    const uint64_t *a = at<uint64_t>(warp, i.a);
    for (uint32_t l = 0; l < kLanes; ++l)
      offsets[l] = static_cast<uint32_t>(a[l]) + added;
  }
  if (mask != kAllLanes) {
    uint32_t first = offsets[__builtin_ctz(mask)];
    for (uint32_t l = 0; l < kLanes; ++l)
      offsets[l] = (mask >> l & 1) ? offsets[l] : first;
  }
  // One unsigned comparison for both ends: offset - start < bytes - size + 1.
  uint32_t bits = 0, most = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t inside = offsets[l] - warp.sharedBegin;
    most = inside > most ? inside : most;
    bits |= offsets[l];
  }
  return static_cast<uint64_t>(most) + size <= warp.sharedEnd - warp.sharedBegin && !(bits & (size - 1));
}

template <typename T, MemorySpace Space> void loadOne(Warp &warp, const Decoded &i, uint32_t mask) {
  Addresses addresses;
  uint32_t good = resolve<Space>(warp, i, mask, sizeof(T), false, addresses);
  T *d = at<T>(warp, i.d);
  if (good == kAllLanes) {
    if (contiguous<sizeof(T)>(addresses)) {
      memcpy(d, reinterpret_cast<const void *>(addresses.at[0]), kLanes * sizeof(T));
      return;
    }
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = *reinterpret_cast<const T *>(addresses.at[l]);
    return;
  }
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    d[l] = *reinterpret_cast<const T *>(addresses.at[l]);
  }
}

/// Operands of a vector are the run at `list` of the function's operand table.
template <typename T, uint32_t Count, MemorySpace Space> void loadVector(Warp &warp, const Decoded &i, uint32_t mask) {
  Addresses addresses;
  uint32_t good = resolve<Space>(warp, i, mask, sizeof(T) * Count, false, addresses);
  const uint32_t *operands = vectorOperands(warp, i);
  T *d[Count];
  alignas(64) T unused[kLanes];
  for (uint32_t k = 0; k < Count; ++k)
    d[k] = operands[k] == kNoOperand ? unused : at<T>(warp, operands[k]);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    const T *from = reinterpret_cast<const T *>(addresses.at[l]);
    T values[Count]; // read all before the first write: a destination may be the address register's neighbour
    memcpy(values, from, sizeof values);
    for (uint32_t k = 0; k < Count; ++k)
      d[k][l] = values[k];
  }
}

template <typename T, MemorySpace Space> void storeOne(Warp &warp, const Decoded &i, uint32_t mask) {
  Addresses addresses;
  uint32_t good = resolve<Space>(warp, i, mask, sizeof(T), true, addresses);
  const T *value = at<T>(warp, i.b);
  if (good == kAllLanes && contiguous<sizeof(T)>(addresses)) {
    memcpy(reinterpret_cast<void *>(addresses.at[0]), value, kLanes * sizeof(T));
    return;
  }
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    *reinterpret_cast<T *>(addresses.at[l]) = value[l];
  }
}

template <typename T, uint32_t Count, MemorySpace Space> void storeVector(Warp &warp, const Decoded &i, uint32_t mask) {
  Addresses addresses;
  uint32_t good = resolve<Space>(warp, i, mask, sizeof(T) * Count, true, addresses);
  const uint32_t *operands = vectorOperands(warp, i);
  const T *value[Count];
  for (uint32_t k = 0; k < Count; ++k)
    value[k] = at<T>(warp, operands[k]);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    T *to = reinterpret_cast<T *>(addresses.at[l]);
    for (uint32_t k = 0; k < Count; ++k)
      to[k] = value[k][l];
  }
}

template <typename T> void loadShared(Warp &warp, const Decoded &i, uint32_t mask) {
  alignas(64) uint32_t offsets[kLanes];
  if (i.addressMode == AddressMode::FrameLocal || !sharedOffsets(warp, i, mask, sizeof(T), offsets)) [[unlikely]]
    return loadOne<T, MemorySpace::Shared>(warp, i, mask);
  T *d = at<T>(warp, i.d);
  const uint8_t *base = warp.shared;
  if (mask != kAllLanes) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
      d[l] = *reinterpret_cast<const T *>(base + offsets[l]);
    }
    return;
  }
  uint32_t different = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    different |= (offsets[l] - offsets[0]) ^ (l * static_cast<uint32_t>(sizeof(T)));
  if (different == 0) {
    memcpy(d, base + offsets[0], kLanes * sizeof(T));
    return;
  }
#if defined(__clang__)
#pragma clang loop vectorize(disable)
#endif
  for (uint32_t l = 0; l < kLanes; ++l)
    d[l] = *reinterpret_cast<const T *>(base + offsets[l]);
}

template <typename T> void storeShared(Warp &warp, const Decoded &i, uint32_t mask) {
  alignas(64) uint32_t offsets[kLanes];
  if (i.addressMode == AddressMode::FrameLocal || !sharedOffsets(warp, i, mask, sizeof(T), offsets)) [[unlikely]]
    return storeOne<T, MemorySpace::Shared>(warp, i, mask);
  const T *value = at<T>(warp, i.b);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    *reinterpret_cast<T *>(warp.shared + offsets[l]) = value[l];
  }
}

template <typename T, MemorySpace Space> Handler loadOf(uint32_t count) {
  switch (count) {
  case 1:
    if constexpr (Space == MemorySpace::Shared)
      return &loadShared<T>;
    return &loadOne<T, Space>;
  case 2:
    return &loadVector<T, 2, Space>;
  case 4:
    return &loadVector<T, 4, Space>;
  case 8:
    if constexpr (sizeof(T) == 4)
      return &loadVector<T, 8, Space>;
    return nullptr;
  default:
    return nullptr;
  }
}
template <typename T, MemorySpace Space> Handler storeOf(uint32_t count) {
  switch (count) {
  case 1:
    if constexpr (Space == MemorySpace::Shared)
      return &storeShared<T>;
    return &storeOne<T, Space>;
  case 2:
    return &storeVector<T, 2, Space>;
  case 4:
    return &storeVector<T, 4, Space>;
  case 8:
    if constexpr (sizeof(T) == 4)
      return &storeVector<T, 8, Space>;
    return nullptr;
  default:
    return nullptr;
  }
}

template <MemorySpace Space> Handler loadBytes(uint32_t bytes, uint32_t count) {
  switch (bytes) {
  case 1:
    return loadOf<uint8_t, Space>(count);
  case 2:
    return loadOf<uint16_t, Space>(count);
  case 4:
    return loadOf<uint32_t, Space>(count);
  case 8:
    return loadOf<uint64_t, Space>(count);
  default:
    return nullptr;
  }
}
template <MemorySpace Space> Handler storeBytes(uint32_t bytes, uint32_t count) {
  switch (bytes) {
  case 1:
    return storeOf<uint8_t, Space>(count);
  case 2:
    return storeOf<uint16_t, Space>(count);
  case 4:
    return storeOf<uint32_t, Space>(count);
  case 8:
    return storeOf<uint64_t, Space>(count);
  default:
    return nullptr;
  }
}

} // namespace

Handler loadHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  switch (space) {
  case MemorySpace::Shared:
    return loadBytes<MemorySpace::Shared>(bytes, count);
  case MemorySpace::Local:
    return loadBytes<MemorySpace::Local>(bytes, count);
  case MemorySpace::Generic:
    return loadBytes<MemorySpace::Generic>(bytes, count);
  case MemorySpace::Const:
  case MemorySpace::Global:
    return loadBytes<MemorySpace::Global>(bytes, count);
  case MemorySpace::Param:
    return loadBytes<MemorySpace::Generic>(bytes, count);
  case MemorySpace::SharedCluster:
    return nullptr;
  }
  return nullptr;
}

Handler storeHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  switch (space) {
  case MemorySpace::Shared:
    return storeBytes<MemorySpace::Shared>(bytes, count);
  case MemorySpace::Local:
    return storeBytes<MemorySpace::Local>(bytes, count);
  case MemorySpace::Generic:
    return storeBytes<MemorySpace::Generic>(bytes, count);
  case MemorySpace::Global:
    return storeBytes<MemorySpace::Global>(bytes, count);
  case MemorySpace::Param:
  case MemorySpace::Const:
  case MemorySpace::SharedCluster:
    return nullptr;
  }
  return nullptr;
}

} // namespace tenon::emulator::TENON_LEVEL
