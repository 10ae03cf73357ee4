// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st of one element per lane. Eight lanes at a time: neighbours, as coalesced code has them, are copied at once,
// lanes with one address are read once, and the rest goes one by one.
#include "emulator/lanes/memory_ops.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

// A kernel may load or store a word plainly while another block changes it by an atomic, as the loops around atomicCAS
// of CUDA's guide do. Of an aligned word that is one access, on a GPU and here. The thread sanitizer has to be told:
// races of a kernel are what the check `races` finds, the sanitizer is to find those of the emulator.
#if __has_feature(thread_sanitizer)
template <typename T> T loadWord(const void *from) {
  return __atomic_load_n(static_cast<const T *>(from), __ATOMIC_RELAXED);
}
template <typename T> void storeWord(void *to, T value) {
  __atomic_store_n(static_cast<T *>(to), value, __ATOMIC_RELAXED);
}
#else
template <typename T> [[gnu::always_inline]] inline T loadWord(const void *from) {
  return *static_cast<const T *>(from);
}
template <typename T> [[gnu::always_inline]] inline void storeWord(void *to, T value) {
  *static_cast<T *>(to) = value;
}
#endif

template <typename T> [[gnu::always_inline]] inline void loadLanes(T *d, const LaneAddresses &from, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    d[l] = loadWord<T>(from.lane(l));
  }
}

template <typename T> [[gnu::always_inline]] inline void loadEight(T *d, const uint8_t *base, const Eight &eight) {
  const uint32_t *offsets = reinterpret_cast<const uint32_t *>(&eight);
  Eight distance = eight - offsets[0];
  if (isZero(distance ^ (kCount8 * static_cast<uint32_t>(sizeof(T))))) {
    memcpy(d, base + offsets[0], 8 * sizeof(T));
  } else if (isZero(distance)) {
    T value = loadWord<T>(base + offsets[0]);
    for (uint32_t l = 0; l < 8; ++l)
      d[l] = value;
  } else {
    T values[8]; // named one by one: a compiler makes slow vector inserts of a loop
    values[0] = loadWord<T>(base + offsets[0]);
    values[1] = loadWord<T>(base + offsets[1]);
    values[2] = loadWord<T>(base + offsets[2]);
    values[3] = loadWord<T>(base + offsets[3]);
    values[4] = loadWord<T>(base + offsets[4]);
    values[5] = loadWord<T>(base + offsets[5]);
    values[6] = loadWord<T>(base + offsets[6]);
    values[7] = loadWord<T>(base + offsets[7]);
    memcpy(d, values, sizeof values);
  }
}

template <typename T, MemorySpace Space> void loadOne(Warp &warp, const Decoded &i, uint32_t mask) {
  LaneAddresses from;
  T *d = at<T>(warp, i.d);
  if (!findLanes<Space, sizeof(T)>(warp, i, mask, from)) [[unlikely]] {
    int64_t addresses[kLanes];
    uint32_t good = resolveLanes(warp, i, mask, Space, sizeof(T), false, addresses);
    for (uint32_t rest = good; rest; rest &= rest - 1) {
      uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
      d[l] = loadWord<T>(reinterpret_cast<const void *>(addresses[l]));
    }
    return;
  }
  for (uint32_t g = 0; g < kEights; ++g) {
    uint32_t lanes = mask >> (8 * g) & 0xff;
    if (lanes == 0xff)
      loadEight(d + 8 * g, from.base, from.offsets[g]);
    else
      loadLanes(d, from, lanes << (8 * g));
  }
}

template <typename T, MemorySpace Space> void storeOne(Warp &warp, const Decoded &i, uint32_t mask) {
  LaneAddresses to;
  const T *value = at<T>(warp, i.b);
  if (!findLanes<Space, sizeof(T)>(warp, i, mask, to)) [[unlikely]] {
    int64_t addresses[kLanes];
    uint32_t good = resolveLanes(warp, i, mask, Space, sizeof(T), true, addresses);
    for (uint32_t rest = good; rest; rest &= rest - 1) {
      uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
      storeWord<T>(reinterpret_cast<void *>(addresses[l]), value[l]);
    }
    return;
  }
  for (uint32_t g = 0; g < kEights; ++g) {
    uint32_t lanes = mask >> (8 * g) & 0xff;
    uint32_t first = to.offset(8 * g);
    Eight distance = to.offsets[g] - first;
    if (lanes == 0xff && isZero(distance ^ (kCount8 * static_cast<uint32_t>(sizeof(T))))) {
      memcpy(to.base + first, value + 8 * g, 8 * sizeof(T));
      continue;
    }
    for (uint32_t rest = lanes << (8 * g); rest; rest &= rest - 1) { // in lane order: the last one stays
      uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
      storeWord<T>(to.lane(l), value[l]);
    }
  }
}

// volatile, relaxed, acquire, release: other blocks may run at the same time and look at the same place.
template <typename T, MemorySpace Space> void loadStrong(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  uint32_t good = hostAddresses<Space, sizeof(T)>(warp, i, mask, false, addresses);
  T *d = at<T>(warp, i.d);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    d[l] = __atomic_load_n(reinterpret_cast<const T *>(addresses[l]), __ATOMIC_ACQUIRE);
  }
}
template <typename T, MemorySpace Space> void storeStrong(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  uint32_t good = hostAddresses<Space, sizeof(T)>(warp, i, mask, true, addresses);
  const T *value = at<T>(warp, i.b);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    __atomic_store_n(reinterpret_cast<T *>(addresses[l]), value[l], __ATOMIC_RELEASE);
  }
}

template <MemorySpace Space> Handler loadOf(uint32_t bytes, bool isStrong) {
  switch (bytes) {
  case 1:
    return isStrong ? &loadStrong<uint8_t, Space> : &loadOne<uint8_t, Space>;
  case 2:
    return isStrong ? &loadStrong<uint16_t, Space> : &loadOne<uint16_t, Space>;
  case 4:
    return isStrong ? &loadStrong<uint32_t, Space> : &loadOne<uint32_t, Space>;
  case 8:
    return isStrong ? &loadStrong<uint64_t, Space> : &loadOne<uint64_t, Space>;
  default:
    return nullptr;
  }
}
template <MemorySpace Space> Handler storeOf(uint32_t bytes, bool isStrong) {
  switch (bytes) {
  case 1:
    return isStrong ? &storeStrong<uint8_t, Space> : &storeOne<uint8_t, Space>;
  case 2:
    return isStrong ? &storeStrong<uint16_t, Space> : &storeOne<uint16_t, Space>;
  case 4:
    return isStrong ? &storeStrong<uint32_t, Space> : &storeOne<uint32_t, Space>;
  case 8:
    return isStrong ? &storeStrong<uint64_t, Space> : &storeOne<uint64_t, Space>;
  default:
    return nullptr;
  }
}

} // namespace

Handler loadHandler(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong) {
  if (count != 1)
    return vectorLoadHandler(space, bytes, count);
  // Shared and local memory belong to one block, whose threads do not run at the same time.
  switch (space) {
  case MemorySpace::Shared:
    return loadOf<MemorySpace::Shared>(bytes, false);
  case MemorySpace::Local:
    return loadOf<MemorySpace::Local>(bytes, false);
  case MemorySpace::Generic:
  case MemorySpace::Param:
    return loadOf<MemorySpace::Generic>(bytes, isStrong);
  case MemorySpace::Global:
  case MemorySpace::Const:
    return loadOf<MemorySpace::Global>(bytes, isStrong);
  case MemorySpace::SharedCluster: // decoding makes it generic
    return nullptr;
  }
  return nullptr;
}
Handler storeHandler(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong) {
  if (count != 1)
    return vectorStoreHandler(space, bytes, count);
  switch (space) {
  case MemorySpace::Shared:
    return storeOf<MemorySpace::Shared>(bytes, false);
  case MemorySpace::Local:
    return storeOf<MemorySpace::Local>(bytes, false);
  case MemorySpace::Generic:
    return storeOf<MemorySpace::Generic>(bytes, isStrong);
  case MemorySpace::Global:
    return storeOf<MemorySpace::Global>(bytes, isStrong);
  case MemorySpace::Param:
  case MemorySpace::Const:
  case MemorySpace::SharedCluster:
    return nullptr;
  }
  return nullptr;
}

} // namespace tenon::emulator::TENON_LEVEL
