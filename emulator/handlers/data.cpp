// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/data.h"

#include "emulator/machine/cluster.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/grid.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/memory.h"

#include <cuda.h>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;
using TENON_LEVEL::write;
using TENON_LEVEL::writeMask;

template <typename T> void splat(T *d, T value, uint32_t mask) {
  for (uint32_t l = 0; l < kLanes; ++l)
    d[l] = (mask >> l & 1) ? value : d[l];
}

template <typename T> void frameAddress(Warp &warp, const Decoded &i, uint32_t mask) {
  uint64_t address = warp.frame->localBase + static_cast<uint64_t>(i.imm) + (i.flag ? kLocalWindow : 0);
  splat(at<T>(warp, i.d), static_cast<T>(address), mask);
}

template <typename T> void addWindow(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  T result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = static_cast<T>(a[l] + static_cast<uint64_t>(i.imm));
  write(at<T>(warp, i.d), result, mask);
}
template <typename T> void subtractWindow(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  T result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = static_cast<T>(a[l] - static_cast<uint64_t>(i.imm));
  write(at<T>(warp, i.d), result, mask);
}

void isSpace(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t value = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint64_t address =
        i.addressMode == AddressMode::Register32 ? at<uint32_t>(warp, i.a)[l] : at<uint64_t>(warp, i.a)[l];
    bool shared = address - kSharedWindow < kWindowBytes, local = address - kLocalWindow < kWindowBytes;
    bool param = address - kParamWindow < kWindowBytes, holds = false;
    switch (static_cast<MemorySpace>(i.flag)) {
    case MemorySpace::Shared:
      holds = shared && sharedOwner(warp, address - kSharedWindow) == warp.block;
      break;
    case MemorySpace::SharedCluster:
      holds = shared;
      break;
    case MemorySpace::Local:
      holds = local;
      break;
    case MemorySpace::Param:
      holds = param;
      break;
    case MemorySpace::Const: {
      auto lock = exclusively(*warp.executor);
      const Allocation *allocation = warp.executor->memory->find(address);
      holds = allocation && allocation->kind == AllocationKind::Constant;
      break;
    }
    case MemorySpace::Global:
    case MemorySpace::Generic:
      holds = !shared && !local && !param;
      break;
    }
    value |= static_cast<uint32_t>(holds) << l;
  }
  writeMask(warp, i.d, value, mask);
}

/// Time is virtual, so that every run sees the same: one cycle per executed instruction, a nanosecond per cycle.
template <typename T> void clock(Warp &warp, const Decoded &i, uint32_t mask) {
  const Executor &executor = *warp.executor;
  uint64_t value = executor.instructions + static_cast<uint64_t>(&i - executor.runBegin) + 1 + executor.slept;
  splat(at<T>(warp, i.d), static_cast<T>(value >> i.imm), mask);
}

void nanosleep(Warp &warp, const Decoded &i, uint32_t mask) {
  warp.executor->slept += at<uint32_t>(warp, i.a)[__builtin_ctz(mask)];
}
void nothing(Warp &, const Decoded &, uint32_t) {}
void trap(Warp &warp, const Decoded &i, uint32_t mask) {
  raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), CUDA_ERROR_LAUNCH_FAILED,
             i.flag ? "the kernel executed 'brkpt' and no debugger is attached" : "the kernel executed 'trap'");
}

template <typename T, typename S> void slct(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a), *b = at<T>(warp, i.b);
  const S *c = at<S>(warp, i.c);
  T result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = c[l] >= S(0) || (i.flag && c[l] > S(-1.1754944e-38f) && c[l] < S(0)) ? a[l] : b[l];
  write(at<T>(warp, i.d), result, mask);
}
template <typename T> Handler slctOf(ScalarType selector) {
  return selector == ScalarType::S32 ? &slct<T, int32_t> : selector == ScalarType::F32 ? &slct<T, float> : nullptr;
}

} // namespace

Handler frameAddressHandler(uint32_t bytes) {
  return bytes == 4 ? &frameAddress<uint32_t> : bytes == 8 ? &frameAddress<uint64_t> : nullptr;
}
Handler toGenericHandler(uint32_t bytes) {
  return bytes == 8 ? &addWindow<uint64_t> : nullptr;
}
Handler fromGenericHandler(uint32_t bytes) {
  return bytes == 8 ? &subtractWindow<uint64_t> : nullptr;
}
Handler isSpaceHandler() {
  return &isSpace;
}
Handler clockHandler(uint32_t bytes) {
  return bytes == 4 ? &clock<uint32_t> : bytes == 8 ? &clock<uint64_t> : nullptr;
}
Handler nanosleepHandler() {
  return &nanosleep;
}
Handler nothingHandler() {
  return &nothing;
}
Handler trapHandler() {
  return &trap;
}
Handler slctHandler(ScalarType type, ScalarType selector, bool) {
  switch (ptx::byteSize(type)) {
  case 2:
    return slctOf<uint16_t>(selector);
  case 4:
    return slctOf<uint32_t>(selector);
  case 8:
    return slctOf<uint64_t>(selector);
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator
