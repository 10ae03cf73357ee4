// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/cluster.h"

#include "emulator/machine/decoded_kernel.h"

namespace tenon::emulator {

Block *sharedOwner(const Warp &warp, uint64_t offset) {
  uint64_t rank = offset >> kClusterRankShift;
  const auto &blocks = warp.block->cluster->blocks;
  if (rank == warp.sharedBegin >> kClusterRankShift) // a kernel that does not know of clusters has rank 0 everywhere
    return warp.block;
  return warp.executor->launch->kernel->usesClusters && rank < blocks.size() ? blocks[rank].get() : nullptr;
}

} // namespace tenon::emulator
