// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where stream-ordered memory comes from, as an object that an allocation names (SubmissionQueue::allocateFrom):
//
//   driver_pool.h   a pool of the driver's own; each allocation is one of the driver's
//   block_pool.h    blocks of one size, cut from slabs: constant time, no fragmentation
//   range_pool.h    pieces of any size, cut from slabs: best fit
//
// Memory is taken when an allocation is submitted and returned when a deallocation was given to its stream, which is
// long before the device has come there. What a pool cuts itself it gives out again at once, with its frontier
// (free_ranges.h): the stream of the new owner waits on the device for the streams of the old ones. Nobody waits on the
// host.
//
// A pool has a limit, counts, and says when it is exhausted what was asked for and what is left; an allocation may
// wait for memory instead: then its buffer has no address until some was returned. Thread-safe. A pool outlives its
// buffers: they hold it.
#pragma once

#include "runtime/memory/device_memory.h"
#include "runtime/memory/free_ranges.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tenon::runtime {

struct PoolStatistics {
  uint64_t bytesLive = 0, bytesPeak = 0;   // as allocations asked for
  uint64_t live = 0, allocations = 0;      // buffers now, and ever
  uint64_t bytesReserved = 0;              // what the pool itself holds: slabs, or allocations of the driver
  uint64_t bytesLimit = 0;                 // of bytesReserved; 0: none
  uint64_t bytesFree = 0, largestFree = 0; // of what is reserved; the largest piece
  uint64_t waiting = 0;                    // allocations that wait for memory
};

/// Memory that a pool gave out.
struct PoolMemory {
  uint64_t address = 0;
  Frontier frontier;   // what the taker's stream waits for
  uint64_t serial = 0; // of the allocation, from 1 on
};

class Pool : public std::enable_shared_from_this<Pool> {
public:
  virtual ~Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  Device &device() const { return *device_; }
  const std::string &name() const { return name_; }

  /// What an allocation that finds no memory does.
  struct Waiter {
    const void *key = nullptr;  // of this allocation: a second try replaces the first
    std::function<void()> wake; // called once, when memory was returned; not set: it fails
  };
  /// `bytes` at a multiple of `alignment`, a power of two, for work on `stream`. Nothing: there is none now, and
  /// `waiter` is called when there may be. InvalidArgument: the alignment, or more than this pool ever gives out;
  /// ResourceExhausted: no memory, and the waiter has no `wake`, or nothing is out that could come back.
  Result<std::optional<PoolMemory>> take(CUstream stream, uint64_t bytes, uint64_t alignment, Waiter waiter);
  /// Takes back. `last`: the place in a stream behind its last use; without an event: it is over.
  void giveBack(uint64_t address, FreePoint last);
  /// The taker's stream has passed the frontier that the memory came with. Nothing happens where it is another's now.
  void settle(uint64_t address, uint64_t serial);
  /// Memory goes back by a call on the deallocation's stream, not by giveBack with a place in it.
  virtual bool returnsOnStream() const { return false; }
  /// Makes that call; the memory leaves the pool's books. Only where returnsOnStream().
  virtual Status returnOnStream(uint64_t address, CUstream stream);

  /// Returns unused memory to the driver. Waits for the device where the driver does.
  virtual Status trim() = 0;
  PoolStatistics statistics() const;

protected:
  Pool(std::shared_ptr<Device> device, std::string name, uint64_t limitBytes);

  // With mutex_ held. `bytes` is above 0, `alignment` 256 or more.

  /// InvalidArgument: more than this pool ever gives out, with or without others.
  virtual Status checkRequest(uint64_t bytes, uint64_t alignment) const = 0;
  /// Nothing: no memory, without an error of the driver; else the driver's.
  virtual Result<std::optional<PoolMemory>> takeLocked(CUstream stream, uint64_t bytes, uint64_t alignment) = 0;
  virtual void giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &frontier) = 0;
  virtual void fillStatistics(PoolStatistics &out) const = 0;

  /// "pool 'x'", for messages.
  std::string describe() const { return concat("pool '", name_, "'"); }
  /// Bytes that the pool may still reserve.
  uint64_t mayReserve(uint64_t reserved) const { return limitBytes_ == 0 ? ~uint64_t(0) : limitBytes_ - reserved; }

  struct Live {
    uint64_t bytes = 0; // asked for
    uint64_t taken = 0; // bytes that go back with giveBackLocked
    Frontier frontier;
    uint64_t serial = 0;
  };
  /// Takes a piece off the books; the wakes of those who wait.
  std::map<const void *, std::function<void()>> forgetLocked(std::map<uint64_t, Live>::iterator piece);

  const std::shared_ptr<Device> device_;
  const std::string name_;
  const uint64_t limitBytes_;
  mutable std::mutex mutex_;      // guards what follows, and what subclasses have
  std::map<uint64_t, Live> live_; // by address

private:
  Status exhausted(uint64_t bytes, uint64_t alignment, std::string_view why) const;

  uint64_t bytesLive_ = 0, bytesPeak_ = 0, allocations_ = 0;
  std::map<const void *, std::function<void()>> waiters_;
};

/// Memory that block and range pools cut: allocations of the driver, counted against the pool's limit and the device's.
class Slabs {
public:
  explicit Slabs(Device &device) : device_(device) {}
  ~Slabs();
  Slabs(const Slabs &) = delete;
  Slabs &operator=(const Slabs &) = delete;

  /// A new one: its address. Errors of the driver.
  Result<uint64_t> add(uint64_t bytes);
  /// The slab that `address` lies in: its address and bytes.
  std::pair<uint64_t, uint64_t> find(uint64_t address) const { return *std::prev(slabs_.upper_bound(address)); }
  Status remove(uint64_t slab);
  const std::map<uint64_t, uint64_t> &all() const { return slabs_; }
  uint64_t bytes() const { return bytes_; }

private:
  Device &device_;
  std::map<uint64_t, uint64_t> slabs_; // address -> bytes
  uint64_t bytes_ = 0;
};

} // namespace tenon::runtime
