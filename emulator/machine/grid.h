// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of one launch, handed out to the schedulers that run them: one, or one per worker thread
// (TENON_EMULATOR_THREADS). What is handed out is a cluster, so that barriers and shared memory never cross workers.
//
// With several workers global memory is really shared: atomics, and loads and stores that have an order (.volatile,
// .relaxed, .acquire, .release), are those of the CPU; others race as they do on a device. What is not made for several
// threads, the allocation table and printf, is used under `exclusive`. The order in which blocks run, and with it
// clocks and which of several faults is reported, then changes from run to run; results of kernels without races do
// not.
#pragma once

#include "emulator/machine/machine.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace tenon::emulator {

class Grid {
public:
  explicit Grid(uint64_t clusters, uint32_t workers = 1, bool oneByOne = false)
      : clusters_(clusters), share_(oneByOne ? UINT64_MAX : uint64_t(workers) * kSharesOfWorker) {}
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;

  /// Clusters [first, last) for one worker: several while many are left, so that workers seldom meet here, one by one
  /// towards the end, so that they finish together. False: there are no more, and the range is empty.
  bool take(uint64_t &first, uint64_t &last) {
    first = last = next_.load(std::memory_order_relaxed);
    do {
      if (first >= clusters_) {
        last = first;
        return false;
      }
      last = first + std::clamp<uint64_t>((clusters_ - first) / share_, 1, kMostAtOnce);
    } while (!next_.compare_exchange_weak(first, last, std::memory_order_relaxed));
    return true;
  }
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= clusters_; }
  void finish(uint64_t clusters) { finished_.fetch_add(clusters, std::memory_order_relaxed); }
  /// How many are done.
  uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }
  /// A kernel failed: nobody goes on.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// The heap changed: what is known of accessible ranges is void.
  void forgetRanges() { epoch_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t rangeEpoch() const { return epoch_.load(std::memory_order_relaxed); }

  std::recursive_mutex exclusive;

private:
  static constexpr uint64_t kSharesOfWorker = 8, kMostAtOnce = 16;
  // What workers write lies apart from what they look at for every block: a write takes a line from all other cores.
  static constexpr size_t kLine = 128; // two, as processors fetch them
  alignas(kLine) std::atomic<uint64_t> next_ = 0;
  alignas(kLine) std::atomic<uint64_t> finished_ = 0;
  alignas(kLine) std::atomic<uint64_t> epoch_ = 0;
  std::atomic<bool> stopped_ = false;
  const uint64_t clusters_, share_;
};

/// Held while something is used that the workers of a launch have in common; free where there is one worker.
inline std::unique_lock<std::recursive_mutex> exclusively(const Executor &executor) {
  return executor.shared ? std::unique_lock(executor.shared->exclusive) : std::unique_lock<std::recursive_mutex>();
}

} // namespace tenon::emulator
