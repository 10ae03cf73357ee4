// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs and what is free of them.
#include "runtime/memory/range_pool.h"

#include "runtime/device/device.h"

#include <algorithm>
#include <bit>

namespace tenon::runtime {

namespace {

constexpr uint64_t kMost = uint64_t(1) << 62; // so that sums do not overflow

} // namespace

Result<std::shared_ptr<Pool>> RangePool::create(std::shared_ptr<Device> device, const RangePoolOptions &options) {
  if (options.slabBytes == 0 || options.slabBytes > kMost)
    return makeError(StatusCode::InvalidArgument, "pool '", options.name, "': slabs of ", options.slabBytes, " bytes");
  if (!std::has_single_bit(options.alignment) || options.alignment > kMost)
    return makeError(StatusCode::InvalidArgument, "pool '", options.name, "': an alignment of ", options.alignment,
                     " bytes: expected a power of two");
  return std::shared_ptr<Pool>(std::shared_ptr<RangePool>(new RangePool(std::move(device), options)));
}

RangePool::RangePool(std::shared_ptr<Device> device, const RangePoolOptions &options)
    : Pool(std::move(device), options.name, options.limitBytes), slabBytes_(options.slabBytes),
      alignment_(std::max(options.alignment, kBufferAlignment)), slabs_(*device_) {
  slabBytes_ = roundUp(slabBytes_);
}

Status RangePool::checkRequest(uint64_t bytes, uint64_t alignment) const {
  const uint64_t most = std::min(mayReserve(0), kMost);
  if (bytes > most || alignment > kMost || roundUp(bytes) > most)
    return makeError(StatusCode::ResourceExhausted, describe(), ": ", bytes, " bytes (at a multiple of ", alignment,
                     ") were asked for, the limit is ", most);
  return okStatus();
}

Result<std::optional<PoolMemory>> RangePool::takeLocked(CUstream, uint64_t bytes, uint64_t alignment) {
  bytes = roundUp(bytes);
  alignment = std::max(alignment, alignment_);
  auto take = [&]() -> std::optional<PoolMemory> {
    std::optional<FreeRanges::Range> range = free_.take(bytes, alignment);
    return range ? std::optional(PoolMemory{range->begin, std::move(range->frontier)}) : std::nullopt;
  };
  if (std::optional<PoolMemory> taken = take())
    return taken;
  // A slab begins at a multiple of 256; what is wanted may begin later.
  const uint64_t needed = bytes + (alignment > kBufferAlignment ? alignment - kBufferAlignment : 0);
  if (mayReserve(slabs_.bytes()) < std::max(needed, slabBytes_))
    TENON_RETURN_IF_ERROR(trimLocked());
  const uint64_t room = mayReserve(slabs_.bytes());
  if (room < needed)
    return std::optional<PoolMemory>();
  const uint64_t slabBytes = std::min(std::max(needed, slabBytes_), room);
  TENON_ASSIGN_OR_RETURN(const uint64_t slab, slabs_.add(slabBytes));
  free_.add(slab, {slab, slabBytes, {}});
  return take();
}

void RangePool::giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &frontier) {
  free_.add(slabs_.find(address).first, {address, roundUp(bytes), frontier});
}

void RangePool::fillStatistics(PoolStatistics &out) const {
  out.bytesReserved = slabs_.bytes();
  out.bytesFree = free_.bytes();
  out.largestFree = free_.largest();
}

Status RangePool::trimLocked() {
  std::vector<std::pair<uint64_t, uint64_t>> unused;
  for (const auto &[slab, bytes] : slabs_.all())
    if (free_.removeSlab(slab, slab, bytes))
      unused.emplace_back(slab, bytes);
  Status status;
  for (const auto &[slab, bytes] : unused) {
    Status removed = slabs_.remove(slab); // the driver waits for work that uses it
    if (removed.ok())
      continue;
    free_.add(slab, {slab, bytes, {}});
    if (status.ok())
      status = std::move(removed);
  }
  return status;
}

Status RangePool::trim() {
  std::lock_guard lock(mutex_);
  return trimLocked();
}

} // namespace tenon::runtime
