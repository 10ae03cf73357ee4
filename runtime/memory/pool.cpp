// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The books of every pool: who has what, who waits, and what is said when there is nothing left.
#include "runtime/memory/pool.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"

#include <algorithm>
#include <bit>

namespace tenon::runtime {

Pool::Pool(std::shared_ptr<Device> device, std::string name, uint64_t limitBytes)
    : device_(std::move(device)), name_(std::move(name)), limitBytes_(limitBytes) {}

Status Pool::exhausted(uint64_t bytes, uint64_t alignment, std::string_view why) const {
  PoolStatistics now;
  fillStatistics(now);
  std::string limit = limitBytes_ ? concat(", the limit is ", limitBytes_) : std::string();
  return makeError(StatusCode::ResourceExhausted, describe(), ": out of memory: ", bytes, " bytes (at a multiple of ",
                   alignment, ") were asked for; ", now.bytesFree, " are free, the largest piece ", now.largestFree,
                   "; ", now.bytesReserved, " are reserved, ", bytesLive_, " in ", live_.size(), " allocations", limit,
                   why.empty() ? "" : ": ", why);
}

Result<std::optional<PoolMemory>> Pool::take(CUstream stream, uint64_t bytes, uint64_t alignment, Waiter waiter) {
  if (!std::has_single_bit(alignment))
    return makeError(StatusCode::InvalidArgument, describe(), ": an alignment of ", alignment,
                     " bytes: expected a power of two");
  const uint64_t asked = std::max<uint64_t>(bytes, 1); // an empty buffer has an address of its own
  alignment = std::max(alignment, kBufferAlignment);
  std::lock_guard lock(mutex_);
  waiters_.erase(waiter.key);
  TENON_RETURN_IF_ERROR(checkRequest(asked, alignment));
  Result<std::optional<PoolMemory>> taken = takeLocked(stream, asked, alignment);
  if (!taken.ok() && taken.status().code() != StatusCode::ResourceExhausted)
    return taken;
  if (taken.ok() && *taken) {
    (*taken)->serial = ++allocations_;
    live_[(*taken)->address] = {bytes, asked, (*taken)->frontier, allocations_};
    bytesLive_ += bytes;
    bytesPeak_ = std::max(bytesPeak_, bytesLive_);
    return taken;
  }
  if (!waiter.wake || live_.empty())
    return exhausted(bytes, alignment, taken.ok() ? std::string_view() : taken.status().message());
  waiters_[waiter.key] = std::move(waiter.wake);
  return std::optional<PoolMemory>();
}

std::map<const void *, std::function<void()>> Pool::forgetLocked(std::map<uint64_t, Live>::iterator piece) {
  bytesLive_ -= piece->second.bytes;
  live_.erase(piece);
  return std::exchange(waiters_, {});
}

void Pool::giveBack(uint64_t address, FreePoint last) {
  std::map<const void *, std::function<void()>> woken;
  {
    std::lock_guard lock(mutex_);
    auto piece = live_.find(address);
    if (piece == live_.end())
      return;
    Frontier frontier = std::move(piece->second.frontier);
    if (last.event)
      joinFrontier(frontier, {std::move(last)});
    giveBackLocked(address, piece->second.taken, frontier);
    woken = forgetLocked(piece);
  }
  for (auto &[key, wake] : woken)
    wake();
}

void Pool::settle(uint64_t address, uint64_t serial) {
  std::lock_guard lock(mutex_);
  if (auto piece = live_.find(address); piece != live_.end() && piece->second.serial == serial)
    piece->second.frontier.clear();
}

Status Pool::returnOnStream(uint64_t, CUstream) {
  return makeError(StatusCode::Internal, describe(), " returns no memory on a stream");
}

PoolStatistics Pool::statistics() const {
  std::lock_guard lock(mutex_);
  PoolStatistics out;
  out.bytesLive = bytesLive_, out.bytesPeak = bytesPeak_;
  out.live = live_.size(), out.allocations = allocations_;
  out.bytesLimit = limitBytes_;
  out.waiting = waiters_.size();
  fillStatistics(out);
  return out;
}

Slabs::~Slabs() {
  for (const auto &[address, bytes] : slabs_)
    freeDeviceMemory(device_, address, bytes, DeviceAllocator::Plain);
}

Result<uint64_t> Slabs::add(uint64_t bytes) {
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(const uint64_t address, allocateDeviceMemory(device_, bytes));
  slabs_[address] = bytes;
  bytes_ += bytes;
  return address;
}

Status Slabs::remove(uint64_t slab) {
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const uint64_t bytes = slabs_.at(slab);
  TENON_RETURN_IF_ERROR(cuda::driverStatus(device_.driver(), device_.driver().cuMemFree_v2(slab), "cuMemFree_v2"));
  device_.freeCounted(bytes);
  slabs_.erase(slab);
  bytes_ -= bytes;
  return okStatus();
}

} // namespace tenon::runtime
