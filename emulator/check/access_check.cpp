// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/access_check.h"

#include "emulator/check/shadow_checker.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/grid.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/memory.h"
#include "support/number.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

std::string spaceName(MemorySpace space) {
  switch (space) {
  case MemorySpace::Generic:
    return "generic";
  case MemorySpace::Global:
    return "global";
  case MemorySpace::Shared:
  case MemorySpace::SharedCluster:
    return "shared";
  case MemorySpace::Local:
    return "local";
  case MemorySpace::Param:
    return "param";
  case MemorySpace::Const:
    return "const";
  }
  return "";
}

/// Splits a generic address into the space it points to and the offset there.
MemorySpace classify(uint64_t address, uint64_t &offset) {
  offset = address;
  if (address - kSharedWindow < kWindowBytes) {
    offset = address - kSharedWindow;
    return MemorySpace::Shared;
  }
  if (address - kLocalWindow < kWindowBytes) {
    offset = address - kLocalWindow;
    return MemorySpace::Local;
  }
  if (address - kParamWindow < kWindowBytes) {
    offset = address - kParamWindow;
    return MemorySpace::Param;
  }
  return MemorySpace::Global;
}

std::string sharedDescription(const Warp &warp, uint64_t offset) {
  uint64_t bytes = warp.sharedEnd - warp.sharedBegin;
  uint64_t rank = offset >> kClusterRankShift, ranks = warp.block->cluster->blocks.size();
  if (rank != warp.sharedBegin >> kClusterRankShift) {
    if (rank >= ranks)
      return "in block " + std::to_string(rank) + " of a cluster of " + std::to_string(ranks);
    return "in block " + std::to_string(rank) + " of the cluster, which has " + std::to_string(bytes) + " bytes" +
           (warp.block->cluster->blocks[rank]->finished ? " and has exited" : "");
  }
  if (offset < warp.sharedBegin)
    return "below the block's shared memory, which begins at " + hexText(kSharedStart);
  std::string size = "the block's " + std::to_string(bytes) + " bytes of shared memory (static " +
                     std::to_string(warp.executor->launch->kernel->staticShared) + ", dynamic " +
                     std::to_string(warp.executor->launch->dynamicShared) + ")";
  if (offset >= warp.sharedEnd)
    return std::to_string(offset - warp.sharedEnd) + " bytes past the end of " + size;
  return std::to_string(offset - warp.sharedBegin) + " bytes into " + size;
}

/// Whether no read-only range of the launch is written; `range` shrinks to what lies between them.
template <typename Refuse>
bool writable(const Executor &executor, uint64_t address, uint32_t size, CheckedRange &range, Refuse refuse) {
  for (const ReadOnlyRange &only : executor.launch->readOnly) {
    if (address < only.end() && address + size > only.begin) {
      refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
             std::to_string(address - std::min(address, only.begin)) + " bytes into " + only.name +
                 ", which is declared read-only",
             "[readonly] ");
      return false;
    }
    if (only.end() <= address)
      range.low = std::max(range.low, static_cast<int64_t>(only.end()));
    else
      range.high = std::min(range.high, static_cast<int64_t>(only.begin));
  }
  return true;
}

} // namespace

/// One lane's side of resolveSlowly. lock: of the allocation table, taken when somebody looks at it.
static bool resolveLane(Warp &warp, const Decoded &i, uint32_t lane, MemorySpace space, uint32_t size, bool isWrite,
                        const uint8_t *value, std::unique_lock<std::recursive_mutex> &lock, int64_t &result) {
  Executor &executor = *warp.executor;
  uint64_t address = static_cast<uint64_t>(result), offset = address;
  // What lies in .param comes with its window.
  MemorySpace where = space == MemorySpace::Generic || space == MemorySpace::Param ? classify(address, offset) : space;
  auto refuse = [&](int code, const std::string &why, const char *kind = "out-of-bounds ") {
    raiseFault(warp, i, lane, code,
               (code == CUDA_ERROR_MISALIGNED_ADDRESS ? "misaligned " : kind) + spaceName(where) +
                   (isWrite ? " write" : " read") + " of " + std::to_string(size) + (size == 1 ? " byte" : " bytes") +
                   " at " + hexText(where == MemorySpace::Global || where == MemorySpace::Const ? address : offset) +
                   ": " + why);
    return false;
  };
  auto isAligned = [&] {
    return (offset & (size - 1)) == 0 ||
           refuse(CUDA_ERROR_MISALIGNED_ADDRESS, "it must be a multiple of " + std::to_string(size));
  };
  if (where == MemorySpace::Shared) {
    // Another block's memory is reached by .shared::cluster and generic addresses only.
    Block *owner = space == MemorySpace::Generic ? sharedOwner(warp, offset) : warp.block;
    uint64_t begin = owner ? owner->warps[0].sharedBegin : 0;
    // What the device reserves lies below what programs have.
    const bool isReserved = owner && executor.launch->kernel->usesReservedShared && offset < begin &&
                            offset + size <= begin - kSharedStart + kReservedSharedBytes;
    if (!owner || owner->finished || (!isReserved && offset < begin) || offset + size > owner->warps[0].sharedEnd)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, sharedDescription(warp, offset));
    if (!isAligned() || (executor.checker && !executor.checker->access(warp, i, lane, owner, offset & kRankOffsetMask,
                                                                       size, isWrite, value)))
      return false;
    result = reinterpret_cast<int64_t>(owner->warps[0].shared) + static_cast<int64_t>(offset);
    return true;
  }
  if (where == MemorySpace::Local) {
    if (offset < kLocalStart || offset + size > warp.localStride)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "the thread's local memory ends at " + hexText(warp.localStride));
    result = reinterpret_cast<int64_t>(warp.local) + static_cast<int64_t>(lane) * warp.localStride +
             static_cast<int64_t>(offset);
    return isAligned();
  }
  if (where == MemorySpace::Param) {
    if (isWrite || offset + size > executor.launch->parameterBytes)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, isWrite
                                                    ? "kernel parameters are read-only"
                                                    : std::to_string(offset + size - executor.launch->parameterBytes) +
                                                          " bytes past the kernel's parameters");
    result = reinterpret_cast<int64_t>(executor.launch->parameters) + static_cast<int64_t>(offset);
    return true;
  }
  // Several workers would queue up at the lock: what the instruction's range holds is known.
  const CheckedRange &known = executor.ranges[i.target];
  uint64_t begin = static_cast<uint64_t>(known.low), end = static_cast<uint64_t>(known.high);
  const bool misaligned = offset & (size - 1);
  if (!misaligned && !executor.checker && address >= begin && address < end && size <= end - address) {
    result = static_cast<int64_t>(address + executor.hostBias);
    return true;
  }
  if (!lock)
    lock = exclusively(executor);
  const Memory &memory = *executor.memory;
  const Allocation *allocation = memory.find(address);
  if (!allocation || size > allocation->end() - address || (isWrite && allocation->kind == AllocationKind::Constant)) {
    std::string why = memory.describe(address);
    if (allocation && size > allocation->end() - address)
      why = "its last " + std::to_string(size - (allocation->end() - address)) + " bytes are past the end; it begins " +
            why;
    return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, why);
  }
  CheckedRange range{static_cast<int64_t>(allocation->begin), static_cast<int64_t>(allocation->end())};
  if (!isAligned() || (isWrite && !writable(executor, address, size, range, refuse)) ||
      (executor.checker && !executor.checker->access(warp, i, lane, nullptr, address, size, isWrite, value)))
    return false;
  executor.ranges[i.target] = range;
  result = static_cast<int64_t>(address + executor.hostBias);
  return true;
}

/// The report is of one lane: how many more of its warp are the same.
static void noteOthers(Warp &warp, bool hadFailed, uint32_t bad) {
  const int more = __builtin_popcount(bad) - 1;
  if (!hadFailed && more > 0)
    warp.executor->fault.message +=
        "\n  and " + std::to_string(more) + (more == 1 ? " more lane" : " more lanes") + " of its warp";
}

uint32_t resolveSlowly(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, bool isWrite,
                       int64_t *addresses, const uint8_t *values) {
  std::unique_lock<std::recursive_mutex> lock;
  const bool hadFailed = warp.executor->failed();
  uint32_t good = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
    if (resolveLane(warp, i, lane, space, size, isWrite, values ? values + lane * size : nullptr, lock,
                    addresses[lane]))
      good |= 1u << lane;
  }
  noteOthers(warp, hadFailed, mask & ~good);
  // Lanes that do nothing still have an address: any good one.
  if (good && good != kAllLanes)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if (!(good >> lane & 1))
        addresses[lane] = addresses[__builtin_ctz(good)];
  return good;
}

/// Where the lanes point, as the instruction says it.
static void addressLanes(Warp &warp, const Decoded &i, MemorySpace space, int64_t *addresses) {
  using TENON_LEVEL::at;
  switch (i.addressMode) {
  case AddressMode::Register64: {
    const uint64_t *a = at<uint64_t>(warp, i.a);
    for (uint32_t l = 0; l < kLanes; ++l)
      addresses[l] = static_cast<int64_t>(a[l] + static_cast<uint64_t>(i.imm));
    break;
  }
  case AddressMode::Register32: {
    const uint32_t *a = at<uint32_t>(warp, i.a);
    for (uint32_t l = 0; l < kLanes; ++l)
      addresses[l] = a[l] + static_cast<uint32_t>(i.imm);
    break;
  }
  case AddressMode::FrameLocal:
    for (uint32_t l = 0; l < kLanes; ++l)
      addresses[l] = warp.frame->localBase + i.imm;
    break;
  }
  if (space == MemorySpace::Shared)
    for (uint32_t l = 0; l < kLanes; ++l)
      addresses[l] = static_cast<uint32_t>(addresses[l]);
}

uint32_t resolveLanes(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, bool isWrite,
                      int64_t *addresses) {
  addressLanes(warp, i, space, addresses);
  return resolveSlowly(warp, i, mask, space, size, isWrite, addresses);
}

void storeLanes(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, const uint8_t *values) {
  int64_t addresses[kLanes];
  addressLanes(warp, i, space, addresses);
  std::unique_lock<std::recursive_mutex> lock;
  const bool hadFailed = warp.executor->failed();
  uint32_t bad = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint8_t *value = values + lane * size;
    if (resolveLane(warp, i, lane, space, size, true, value, lock, addresses[lane]))
      memcpy(reinterpret_cast<void *>(addresses[lane]), value, size);
    else
      bad |= 1u << lane;
  }
  noteOthers(warp, hadFailed, bad);
}

} // namespace tenon::emulator
