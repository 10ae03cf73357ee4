// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device: its context, one stream, what is recorded of its work (trace, profile, counts) and how much of its memory
// is taken. Created once and shared: buffers and loaded code keep it alive.
#pragma once

#include "runtime/device/context.h"
#include "runtime/device/profile.h"
#include "runtime/device/stream.h"
#include "runtime/device/trace.h"
#include "support/result.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace tenon::runtime {

/// Counts since the device was opened. Launches count dispatches that reached the driver.
struct Statistics {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytesLive = 0;
  uint64_t bytesPeak = 0;
  uint64_t launches = 0;
  uint64_t modulesLoaded = 0;
  uint64_t jitCompilations = 0, jitCacheHits = 0; // PTX: compiled by the driver, or found compiled (jit_cache.h)
  uint64_t graphsInstantiated = 0, graphNodesPatched = 0;

  /// Lines as `--print-statistics` shows them.
  std::string toString() const;
};

class Device : public std::enable_shared_from_this<Device> {
public:
  /// Opens the driver that serves `selector`, then its device. Unavailable: no driver, or no such device (the message
  /// says how many there are).
  static Result<std::shared_ptr<Device>> open(const cuda::DeviceSelector &selector, const cuda::DriverSearch &search);
  static Result<std::shared_ptr<Device>> create(std::shared_ptr<const cuda::Driver> driver, int ordinal);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// What streams and events need of the device; the functions that follow are its.
  const Context &context() const { return *context_; }
  const cuda::Driver &driver() const { return context_->driver(); }
  const abi::DeviceTraits &traits() const { return context_->traits(); }
  std::string description() const { return context_->description(); }
  cuda::ContextScope enter() const { return context_->enter(); }
  ReleaseScope enterToRelease() const { return context_->enterToRelease(); }
  int ordinal() const { return context_->ordinal(); }
  bool hasMemoryPools() const { return context_->hasMemoryPools(); }
  /// The software driver names itself; it interprets PTX and is never reported as a GPU.
  bool isEmulator() const { return !traits().acceptsCubin; }

  /// The device's own stream: calls of programs that name no other, uploads and downloads.
  Stream &stream() { return *stream_; }
  /// A kernel's fault is kept for the errors of what fails after it (cuda/first_fault.h); other statuses are not.
  void rememberFault(const Status &status) const;

  /// Where calls and dispatches of this device are recorded from now on; set while no call runs. Null: nowhere.
  void setTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace *trace() const { return trace_.get(); }

  /// From now on `sink` gets the events of queues that pass `filter` (profile.h); an earlier sink gets none.
  /// Errors of Profile::create.
  Status beginProfiling(ProfileFilter filter, ProfileSink sink);
  /// The sink gets no event after this returns. Wait for work in flight first to have its events.
  void endProfiling();
  /// Null: not profiled.
  std::shared_ptr<Profile> profile() const;

  Statistics statistics() const;
  /// How much of the device's memory this runtime may take in all (buffers, pools, programs); 0: no limit of ours.
  void setMemoryLimit(uint64_t bytes) { memoryLimit_.store(bytes, std::memory_order_relaxed); }
  /// Bytes of the device's memory that are taken.
  uint64_t deviceBytesLive() const { return deviceBytes_.load(std::memory_order_relaxed); }
  /// Runs `call`, which asks the driver for `bytes` of the device's memory, and counts them. ResourceExhausted: above
  /// the limit (`call` is not run), or the driver has none: the message says how much is free.
  Status allocateCounted(uint64_t bytes, const std::function<Status()> &call);
  /// Counts them as returned.
  void freeCounted(uint64_t bytes);
  /// Memory that others allocate and free on this device's behalf.
  void countAllocation(uint64_t bytes);
  void countFree(uint64_t bytes);
  void countLaunch(uint64_t launches = 1) { launches_.fetch_add(launches, std::memory_order_relaxed); }
  void countGraph() { graphsInstantiated_.fetch_add(1, std::memory_order_relaxed); }
  void countPatch() { graphNodesPatched_.fetch_add(1, std::memory_order_relaxed); }
  void countJit(bool isHit) { (isHit ? jitCacheHits_ : jitCompilations_).fetch_add(1, std::memory_order_relaxed); }
  void countModule() { modulesLoaded_.fetch_add(1, std::memory_order_relaxed); }

private:
  Device(std::unique_ptr<Context> context, std::unique_ptr<Stream> stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}

  const std::unique_ptr<const Context> context_; // outlives the stream and profiles
  const std::unique_ptr<Stream> stream_;
  std::shared_ptr<Trace> trace_;
  std::atomic<bool> isProfiled_ = false;
  mutable std::mutex profileMutex_; // guards profile_
  std::shared_ptr<Profile> profile_;

  std::atomic<uint64_t> allocations_ = 0, frees_ = 0, bytesLive_ = 0, bytesPeak_ = 0, launches_ = 0, modulesLoaded_ = 0;
  std::atomic<uint64_t> memoryLimit_ = 0, deviceBytes_ = 0;
  std::atomic<uint64_t> jitCompilations_ = 0, jitCacheHits_ = 0, graphsInstantiated_ = 0, graphNodesPatched_ = 0;
};

} // namespace tenon::runtime
