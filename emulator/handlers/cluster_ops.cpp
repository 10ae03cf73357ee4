// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/cluster.h"

#include "emulator/check/check.h"
#include "emulator/check/checker.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/program.h"

#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

/// The rank's bits lie at the same place in shared and in generic addresses: the window is aligned to its size.
template <typename T> void map(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  const uint32_t *rank = at<uint32_t>(warp, i.b);
  T result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) // a rank that does not exist is reported where the address is used
    result[l] = (a[l] & ~static_cast<T>(0xff000000u)) | static_cast<T>(rank[l] > 0xff ? 0xff : rank[l])
                                                            << kClusterRankShift;
  TENON_LEVEL::write(at<T>(warp, i.d), result, mask);
}

template <typename T> void rankOf(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = static_cast<uint32_t>(a[l]) >> kClusterRankShift;
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

void arrive(Warp &warp, const Decoded &i, uint32_t mask) {
  if (uint32_t twice = warp.clusterArrived & mask) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(twice)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "barrier.cluster.arrive a second time, with no barrier.cluster.wait between");
    return;
  }
  warp.clusterArrived |= mask;
  warp.clusterPending |= mask;
  if (Checker *checker = warp.executor->checker)
    checker->arriveAtCluster(warp, mask);
}

} // namespace

Block *sharedOwner(const Warp &warp, uint64_t offset) {
  uint64_t rank = offset >> kClusterRankShift;
  const auto &blocks = warp.block->cluster->blocks;
  if (rank == warp.sharedBegin >> kClusterRankShift) // a kernel that does not know of clusters has rank 0 everywhere
    return warp.block;
  return warp.executor->launch->program->usesClusters && rank < blocks.size() ? blocks[rank].get() : nullptr;
}

uint8_t *sharedHost(const Block &block, uint64_t offset) {
  return block.sharedMemory + (offset & kRankOffsetMask);
}

Handler mapHandler(uint32_t bytes) {
  return bytes == 4 ? &map<uint32_t> : bytes == 8 ? &map<uint64_t> : nullptr;
}
Handler rankHandler(uint32_t bytes) {
  return bytes == 4 ? &rankOf<uint32_t> : bytes == 8 ? &rankOf<uint64_t> : nullptr;
}
Handler clusterArriveHandler() {
  return &arrive;
}

bool completeClusterBarrier(Cluster &cluster) {
  uint32_t arrived = 0, missing = 0;
  for (const auto &block : cluster.blocks)
    for (const Warp &warp : block->warps) {
      arrived |= warp.clusterPending & warp.live;
      missing |= ~warp.clusterPending & warp.live;
    }
  if (!arrived || missing)
    return false;
  for (const auto &block : cluster.blocks)
    for (Warp &warp : block->warps)
      warp.clusterPending = 0;
  return true;
}

} // namespace tenon::emulator
