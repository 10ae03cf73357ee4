// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks in a line.
#include "runtime/memory/block_pool.h"

#include "support/align.h"

#include <algorithm>

namespace tenon::runtime {

// A slab's size is a number of 64 bits, and each of its blocks is an entry in host memory.
static constexpr uint64_t kMostBlockBytes = uint64_t(1) << 42;
static constexpr uint64_t kMostBlocks = uint64_t(1) << 20;

Result<std::shared_ptr<Pool>> BlockPool::create(std::shared_ptr<Device> device, const BlockPoolOptions &options) {
  if (options.blockBytes == 0 || options.blocksPerSlab == 0)
    return makeError(StatusCode::InvalidArgument, "pool '", options.name, "': ", options.blocksPerSlab, " blocks of ",
                     options.blockBytes, " bytes in a slab: expected some of each");
  if (options.blockBytes > kMostBlockBytes || options.blocksPerSlab > kMostBlocks)
    return makeError(StatusCode::InvalidArgument, "pool '", options.name, "': ", options.blocksPerSlab, " blocks of ",
                     options.blockBytes, " bytes in a slab: at most ", kMostBlocks, " blocks of ", kMostBlockBytes,
                     " are possible");
  std::shared_ptr<BlockPool> pool(new BlockPool(std::move(device), options));
  if (pool->mayReserve(0) < pool->blockBytes_ * pool->blocksPerSlab_)
    return makeError(StatusCode::InvalidArgument, "pool '", options.name, "': the limit of ", options.limitBytes,
                     " bytes is below one slab: ", options.blocksPerSlab, " blocks of ", pool->blockBytes_, " bytes");
  return std::shared_ptr<Pool>(std::move(pool));
}

BlockPool::BlockPool(std::shared_ptr<Device> device, const BlockPoolOptions &options)
    : Pool(std::move(device), options.name, options.limitBytes),
      blockBytes_(alignUp(options.blockBytes, kBufferAlignment)), blocksPerSlab_(options.blocksPerSlab),
      slabs_(*device_) {}

Status BlockPool::checkRequest(uint64_t bytes, uint64_t alignment) const {
  if (bytes > blockBytes_)
    return makeError(StatusCode::InvalidArgument, describe(), ": ", bytes, " bytes were asked for, a block has ",
                     blockBytes_);
  // Slabs begin at multiples of 256; the blocks in them at multiples of their size from there.
  if (alignment > kBufferAlignment)
    return makeError(StatusCode::InvalidArgument, describe(), ": an alignment of ", alignment,
                     " bytes was asked for, blocks have ", kBufferAlignment);
  return okStatus();
}

Result<std::optional<PoolMemory>> BlockPool::takeLocked(CUstream stream, uint64_t, uint64_t) {
  const uint64_t slabBytes = blockBytes_ * blocksPerSlab_;
  if (free_.empty()) {
    if (mayReserve(slabs_.bytes()) < slabBytes)
      return std::optional<PoolMemory>();
    TENON_ASSIGN_OR_RETURN(const uint64_t slab, slabs_.add(slabBytes));
    for (uint64_t i = 0; i < blocksPerSlab_; ++i)
      free_.push_back({slab + i * blockBytes_, {}});
  }
  auto ofStream = [&](const PoolMemory &block) {
    return std::all_of(block.frontier.begin(), block.frontier.end(),
                       [&](const FreePoint &point) { return point.stream == stream; });
  };
  constexpr ptrdiff_t kLookAt = 16;
  const auto end = free_.begin() + std::min<ptrdiff_t>(kLookAt, static_cast<ptrdiff_t>(free_.size()));
  auto chosen = std::find_if(free_.begin(), end, ofStream);
  if (chosen == end)
    chosen = free_.begin();
  PoolMemory block = std::move(*chosen);
  free_.erase(chosen);
  return std::optional<PoolMemory>(std::move(block));
}

void BlockPool::giveBackLocked(uint64_t address, uint64_t, const Frontier &frontier) {
  free_.push_back({address, frontier});
}

void BlockPool::fillStatistics(PoolStatistics &out) const {
  out.bytesReserved = slabs_.bytes();
  out.bytesFree = free_.size() * blockBytes_;
  out.largestFree = free_.empty() ? 0 : blockBytes_;
}

Status BlockPool::trim() {
  std::lock_guard lock(mutex_);
  std::map<uint64_t, uint64_t> freeOf; // slab -> free blocks
  for (const PoolMemory &block : free_)
    ++freeOf[slabs_.find(block.address).first];
  for (const auto &[slab, count] : freeOf) {
    if (count != blocksPerSlab_)
      continue;
    const uint64_t end = slab + blockBytes_ * blocksPerSlab_;
    TENON_RETURN_IF_ERROR(slabs_.remove(slab)); // the driver waits for work that uses it
    std::erase_if(free_, [&](const PoolMemory &block) { return block.address >= slab && block.address < end; });
  }
  return okStatus();
}

} // namespace tenon::runtime
