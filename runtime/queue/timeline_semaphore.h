// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A timeline: a 64-bit value that only grows, signalled by the host or by a queue when work is complete, waited for by
// the host or by submissions. A semaphore may fail instead; then it holds the Status of what went wrong, for ever, and
// every wait and query answers it.
//
// A wait may come before its signal, from any thread and on any queue. Where the signal is already on its way on a
// device (the signalling work was given to the driver), a submission does not wait on the host: it makes its stream
// wait for that work's event (DeviceSignal).
#pragma once

#include "runtime/device/gpu_event.h"
#include "support/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tenon::runtime {

inline constexpr uint64_t kWaitForever = ~uint64_t(0); // a timeout in nanoseconds

class Semaphore {
public:
  static std::shared_ptr<Semaphore> create(uint64_t initialValue = 0) {
    return std::make_shared<Semaphore>(initialValue);
  }
  explicit Semaphore(uint64_t initialValue) : value_(initialValue) {}

  /// The value reached; or the Status it failed with.
  Result<uint64_t> query() const;
  /// Raises the value. InvalidArgument: not above the present one; the Status of the failure, if it failed.
  Status signal(uint64_t value);
  /// The first failure stays. An ok status becomes Internal.
  void fail(Status status);
  /// Waits until the value is at least `value`. DeadlineExceeded: not within `timeoutNs` nanoseconds (0 only looks).
  Status wait(uint64_t value, uint64_t timeoutNs) const;

  /// What another library may know a moment on a timeline as.
  enum class TimepointKind : uint8_t { CudaEvent, EventFd, SyncFile };
  // Both are Unimplemented, and say what to do instead: an event exists only once the work that signals is given to a
  // device, and a value may be reached by the host or fail, which no event can say.
  Status exportTimepoint(uint64_t value, TimepointKind kind) const;
  Status importTimepoint(uint64_t value, TimepointKind kind, uint64_t handle);

  // For queues.

  enum class State : uint8_t { Pending, Reached, Failed };
  State state(uint64_t value) const;
  /// Raises the value where it is lower; work that completes out of order leaves the higher one. No-op after a failure.
  void advance(uint64_t value);
  /// Work in flight on a device will raise the value to `value` when `event` has happened.
  void addDeviceSignal(uint64_t value, std::shared_ptr<GpuEvent> event);
  /// An event after which the value will be at least `value`, or null: nothing in flight brings it there.
  std::shared_ptr<GpuEvent> deviceSignal(uint64_t value) const;

  /// Calls `wake` once, when the value is reached or the semaphore fails or, with `orInFlight`, when
  /// deviceSignal(value) has an answer; at once where that is so already. Called on the thread that brings it about,
  /// with no lock held.
  /// @return a token for forget().
  uint64_t notify(uint64_t value, bool orInFlight, std::function<void()> wake);
  /// Drops what notify() kept, if it was not called yet. A call that has begun on another thread is not waited for.
  void forget(uint64_t token);

private:
  struct Observer {
    uint64_t token;
    uint64_t value;
    bool orInFlight;
    std::function<void()> wake;
  };
  struct InFlight {
    uint64_t value;
    std::shared_ptr<GpuEvent> event;
  };
  // What a change sets free, to be called and let go after the lock.
  struct Released {
    std::vector<Observer> observers;
    std::vector<InFlight> signals;
    void wake();
  };
  State stateLocked(uint64_t value) const;
  bool isInFlightLocked(uint64_t value) const;
  /// Takes off the lists what is over: observers whose moment has come, signals that were reached or failed.
  Released releaseLocked();

  mutable std::mutex mutex_; // guards what follows
  uint64_t value_;
  Status failure_;
  std::vector<Observer> observers_;
  std::vector<InFlight> inFlight_; // above value_
  uint64_t lastToken_ = 0;
};

/// A moment on a timeline.
struct SemaphorePoint {
  std::shared_ptr<Semaphore> semaphore;
  uint64_t value = 0;
};

enum class WaitMode : uint8_t { All, Any };

/// Waits for all points, or for any one. A semaphore that failed ends either wait with its status. DeadlineExceeded:
/// not within `timeoutNs`. No points: at once ok.
Status waitSemaphores(std::span<const SemaphorePoint> points, WaitMode mode, uint64_t timeoutNs);

} // namespace tenon::runtime
