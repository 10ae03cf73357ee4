// Two things that CUDA and others both call events:
//
//   GpuEvent   a moment in a stream (CUevent), for streams and the host to wait for; from a pool, so that a submission
//              allocates nothing once the pool has grown
//   Event      a mark inside one command buffer: what was recorded before its signal happens before what is recorded
//              after its wait, and nothing else is ordered by it (command_buffer.h)
#pragma once

#include "abi/result.h"
#include "runtime/cuda/handles.h"

#include <memory>
#include <mutex>
#include <vector>

namespace tenon::runtime {

class Device;

class GpuEventPool;

class GpuEvent {
public:
  GpuEvent(std::shared_ptr<GpuEventPool> pool, CUevent handle) : pool_(std::move(pool)), handle_(handle) {}
  ~GpuEvent();
  GpuEvent(const GpuEvent &) = delete;
  GpuEvent &operator=(const GpuEvent &) = delete;
  CUevent handle() const { return handle_; }
  /// Waits, asleep, until the recorded work is complete; the error of the device if it went wrong.
  Status synchronize() const;

private:
  std::shared_ptr<GpuEventPool> pool_;
  CUevent handle_;
};

class GpuEventPool : public std::enable_shared_from_this<GpuEventPool> {
public:
  explicit GpuEventPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~GpuEventPool();
  /// An event without timing that sleeps when waited for. It returns to the pool when its last user lets go.
  Result<std::shared_ptr<GpuEvent>> acquire();

private:
  friend class GpuEvent;
  std::shared_ptr<Device> device_;
  std::mutex mutex_; // guards what follows
  std::vector<CUevent> free_;
};

/// An identity, no more: what it orders is found in the command buffer that signals and waits for it.
class Event {
public:
  static std::shared_ptr<Event> create() { return std::make_shared<Event>(); }
};

} // namespace tenon::runtime
