// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: blocks that run at the same time and reach into each other's shared memory. A launch without clusters is
// one of clusters of one block each, so the scheduler knows nothing else.
//
// The shared window is divided among the blocks of a cluster: the upper eight bits of a 32-bit shared address are the
// rank of the block, the lower 24 the offset in its memory, as on a device. A block's own variables carry its rank, so
// that the address may be handed to another block as it is. Kernels that never mention clusters are decoded with
// constant addresses, those of rank 0, whatever cluster they are launched in: they cannot tell.
//
// barrier.cluster has two halves. `arrive` never waits; `wait` stands until every thread of the cluster that lives has
// arrived. Exited threads count as arrived.
//
// Source: PTX ISA, "Cluster", "mapa", "getctarank", "barrier.cluster".
#pragma once

#include "emulator/machine/machine.h"

#include <memory>
#include <vector>

namespace tenon::emulator {

inline constexpr uint32_t kClusterRankShift = 24;
inline constexpr uint32_t kRankOffsetMask = (1u << kClusterRankShift) - 1;
inline constexpr uint8_t kClusterBarrier = 16; // as Group::barrier: barrier.cluster.wait

struct Cluster {
  uint64_t linear = 0;
  uint64_t events = 0;                        // changes of mbarriers, and waits that they ended: signs of life
  std::vector<std::unique_ptr<Block>> blocks; // by rank
};

/// The block of `warp`'s cluster whose memory an offset in the shared window lies in; null: no such rank.
Block *sharedOwner(const Warp &warp, uint64_t offset);

} // namespace tenon::emulator
