// The blocks of one launch, handed out to the schedulers that run them: one, or one per worker thread
// (TENON_EMULATOR_THREADS). What is handed out is a cluster, so that barriers and shared memory never cross workers.
//
// With several workers global memory is really shared: atomics, and loads and stores that have an order (.volatile,
// .relaxed, .acquire, .release), are those of the CPU; others race as they do on a device. What is not made for several
// threads, the allocation table and printf, is used under `exclusive`. The order in which blocks run, and with it
// clocks and which of several faults is reported, then changes from run to run; results of kernels without races do
// not.
#pragma once

#include "emulator/builtins.h"
#include "emulator/machine.h"

#include <atomic>
#include <mutex>

namespace tenon::emulator {

class Grid {
public:
  explicit Grid(uint64_t clusters) : clusters_(clusters) {}
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;

  /// False: there are no more.
  bool take(uint64_t &cluster) {
    if (next_.load(std::memory_order_relaxed) >= clusters_)
      return false;
    cluster = next_.fetch_add(1, std::memory_order_relaxed);
    return cluster < clusters_;
  }
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= clusters_; }
  void finish() { finished_.fetch_add(1, std::memory_order_relaxed); }
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
  const uint64_t clusters_;
  std::atomic<uint64_t> next_ = 0, finished_ = 0, epoch_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// Held while something is used that the workers of a launch have in common; free where there is one worker.
inline std::unique_lock<std::recursive_mutex> exclusively(const Executor &executor) {
  return executor.shared ? std::unique_lock(executor.shared->exclusive) : std::unique_lock<std::recursive_mutex>();
}

struct LaunchResult {
  Fault fault;
  uint64_t instructions = 0, threadInstructions = 0;
};
/// Runs all blocks, on at most `workers` threads. `shuffle`: the order of blocks and warps, by this seed; 0: as they
/// are numbered.
LaunchResult runLaunch(const Launch &launch, Memory &memory, DeviceServices &services, uint32_t workers,
                       uint64_t shuffle = 0);

} // namespace tenon::emulator
