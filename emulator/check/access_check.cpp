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

uint32_t resolveSlowly(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, bool isWrite,
                       int64_t *addresses) {
  Executor &executor = *warp.executor;
  std::unique_lock<std::recursive_mutex> lock; // of the allocation table, when somebody looks at it
  uint32_t good = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    uint64_t address = static_cast<uint64_t>(addresses[lane]), offset = address;
    MemorySpace where = space == MemorySpace::Generic ? classify(address, offset) : space;
    auto refuse = [&](int code, const std::string &why, const char *kind = "out-of-bounds ") {
      raiseFault(warp, i, lane, code,
                 (code == CUDA_ERROR_MISALIGNED_ADDRESS ? "misaligned " : kind) + spaceName(where) +
                     (isWrite ? " write" : " read") + " of " + std::to_string(size) + (size == 1 ? " byte" : " bytes") +
                     " at " + hexText(where == MemorySpace::Global || where == MemorySpace::Const ? address : offset) +
                     ": " + why);
    };
    bool misaligned = offset & (size - 1);
    if (where == MemorySpace::Shared) {
      // Another block's memory is reached by .shared::cluster and generic addresses only.
      Block *owner = space == MemorySpace::Generic ? sharedOwner(warp, offset) : warp.block;
      uint64_t begin = owner ? owner->warps[0].sharedBegin : 0;
      if (!owner || owner->finished || offset < begin || offset + size > owner->warps[0].sharedEnd) {
        refuse(CUDA_ERROR_ILLEGAL_ADDRESS, sharedDescription(warp, offset));
        continue;
      }
      if (misaligned) {
        refuse(CUDA_ERROR_MISALIGNED_ADDRESS, "it must be a multiple of " + std::to_string(size));
        continue;
      }
      if (executor.checker && !executor.checker->access(warp, i, lane, owner, offset & kRankOffsetMask, size, isWrite))
        continue;
      addresses[lane] = reinterpret_cast<int64_t>(owner->warps[0].shared) + static_cast<int64_t>(offset);
    } else if (where == MemorySpace::Local) {
      if (offset < kLocalStart || offset + size > warp.localStride) {
        refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "the thread's local memory ends at " + hexText(warp.localStride));
        continue;
      }
      if (misaligned) {
        refuse(CUDA_ERROR_MISALIGNED_ADDRESS, "it must be a multiple of " + std::to_string(size));
        continue;
      }
      addresses[lane] = reinterpret_cast<int64_t>(warp.local) + static_cast<int64_t>(lane) * warp.localStride +
                        static_cast<int64_t>(offset);
    } else if (where == MemorySpace::Param) {
      if (isWrite || offset + size > executor.launch->kernel->parameterBytes) {
        refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
               isWrite ? "kernel parameters are read-only" : "past the kernel's parameters");
        continue;
      }
      addresses[lane] = reinterpret_cast<int64_t>(executor.launch->parameters) + static_cast<int64_t>(offset);
    } else {
      // Several workers would queue up at the lock: what the instruction's range holds is known.
      const CheckedRange &known = executor.ranges[i.target];
      uint64_t begin = static_cast<uint64_t>(known.low), end = static_cast<uint64_t>(known.high);
      if (!misaligned && !executor.checker && address >= begin && address < end && size <= end - address) {
        addresses[lane] = static_cast<int64_t>(address + executor.hostBias);
        good |= 1u << lane;
        continue;
      }
      if (!lock)
        lock = exclusively(executor);
      const Memory &memory = *executor.memory;
      const Allocation *allocation = memory.find(address);
      if (!allocation || size > allocation->end() - address ||
          (isWrite && allocation->kind == AllocationKind::Constant)) {
        refuse(CUDA_ERROR_ILLEGAL_ADDRESS, memory.describe(address));
        continue;
      }
      if (misaligned) {
        refuse(CUDA_ERROR_MISALIGNED_ADDRESS, "it must be a multiple of " + std::to_string(size));
        continue;
      }
      CheckedRange range{static_cast<int64_t>(allocation->begin), static_cast<int64_t>(allocation->end())};
      if (isWrite && !writable(executor, address, size, range, refuse))
        continue;
      if (executor.checker && !executor.checker->access(warp, i, lane, nullptr, address, size, isWrite))
        continue;
      executor.ranges[i.target] = range;
      addresses[lane] = static_cast<int64_t>(address + executor.hostBias);
    }
    good |= 1u << lane;
  }
  // Lanes that do nothing still have an address: any good one.
  if (good && good != kAllLanes)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if (!(good >> lane & 1))
        addresses[lane] = addresses[__builtin_ctz(good)];
  return good;
}

uint32_t resolveLanes(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, bool isWrite,
                      int64_t *addresses) {
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
  return resolveSlowly(warp, i, mask, space, size, isWrite, addresses);
}

} // namespace tenon::emulator
