// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool of blocks of one size: an allocation takes a whole one, however little it asked for. Blocks are cut from
// slabs, which are added one by one up to the limit.
//
// Of the free blocks one whose last work was on the taker's own stream comes first, since the stream's order is all it
// needs; then the one that was returned longest ago, whose work is the likeliest to be over.
#pragma once

#include "runtime/memory/pool.h"

#include <deque>

namespace tenon::runtime {

struct BlockPoolOptions {
  std::string name = "blocks";
  uint64_t blockBytes = 0; // made a multiple of 256
  uint64_t blocksPerSlab = 16;
  uint64_t limitBytes = 0; // of the slabs; 0: none
};

class BlockPool final : public Pool {
public:
  /// InvalidArgument: no block size, no blocks, or a limit below one slab. Nothing is allocated yet.
  static Result<std::shared_ptr<Pool>> create(std::shared_ptr<Device> device, const BlockPoolOptions &options);
  Status trim() override;

protected:
  Status checkRequest(uint64_t bytes, uint64_t alignment) const override;
  Result<std::optional<PoolMemory>> takeLocked(CUstream stream, uint64_t bytes, uint64_t alignment) override;
  void giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &frontier) override;
  void fillStatistics(PoolStatistics &out) const override;

private:
  BlockPool(std::shared_ptr<Device> device, const BlockPoolOptions &options);

  uint64_t blockBytes_, blocksPerSlab_;
  Slabs slabs_;
  std::deque<PoolMemory> free_; // the oldest first
};

} // namespace tenon::runtime
