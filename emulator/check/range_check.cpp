// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/range_check.h"

#include "emulator/machine/cluster.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/grid.h"
#include "emulator/memory/memory.h"
#include "support/number.h"

#include <cuda.h>

namespace tenon::emulator {

uint8_t *rangeAt(Warp &warp, const Decoded &i, uint32_t lane, uint64_t address, const RangeAccess &access) {
  const Executor &executor = *warp.executor;
  auto refuse = [&](int code, const std::string &why) -> uint8_t * {
    raiseFault(warp, i, lane, code,
               std::string(access.what) + ", " + std::to_string(access.bytes) + " bytes at " + hexText(address) + ": " +
                   why);
    return nullptr;
  };
  if (address & (access.alignment - 1))
    return refuse(CUDA_ERROR_MISALIGNED_ADDRESS,
                  "the address must be a multiple of " + std::to_string(access.alignment));
  if (uint64_t offset = address - kSharedWindow; offset < kWindowBytes) {
    const Block *owner = sharedOwner(warp, offset);
    if (!owner || owner->finished)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                    owner ? "the block of the cluster that it lies in has exited"
                          : "the cluster has no block " + std::to_string(offset >> kClusterRankShift));
    const Warp &first = owner->warps[0];
    if (offset < first.sharedBegin || offset + access.bytes > first.sharedEnd)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "the block's shared memory is [" + hexText(first.sharedBegin) + ", " +
                                                    hexText(first.sharedEnd) + ") of the shared window");
    return first.shared + offset;
  }
  if (uint64_t offset = address - kLocalWindow; offset < kWindowBytes) {
    if (offset < kLocalStart || offset + access.bytes > warp.localStride)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "outside of the thread's local memory");
    return warp.local + static_cast<uint64_t>(lane) * warp.localStride + offset;
  }
  if (uint64_t offset = address - kParamWindow; offset < kWindowBytes) {
    if (access.isWrite || offset + access.bytes > executor.launch->parameterBytes)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                    access.isWrite ? "kernel parameters are read-only" : "past the kernel's parameters");
    return const_cast<uint8_t *>(executor.launch->parameters) + offset;
  }
  auto lock = exclusively(executor);
  if (!executor.memory->accessible(address, access.bytes, access.isWrite)) {
    const Allocation *allocation = executor.memory->find(address);
    bool leaves = allocation && access.bytes > allocation->end() - address;
    return refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                  executor.memory->describe(address) +
                      (leaves ? ", " + std::to_string(allocation->end() - address) + " bytes before its end" : ""));
  }
  for (const ReadOnlyRange &only : executor.launch->readOnly)
    if (access.isWrite && address < only.end() && address + access.bytes > only.begin)
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "[readonly] it reaches " + only.name + ", which is declared read-only");
  return executor.memory->host(address);
}

} // namespace tenon::emulator
