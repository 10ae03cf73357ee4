// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A moment in a stream (CUevent), for streams and the host to wait for. Events come from a pool, so that a submission
// allocates nothing once the pool has grown.
#pragma once

#include "runtime/device/device.h"

#include <memory>
#include <mutex>
#include <vector>

namespace tenon::runtime {

class GpuEvent {
public:
  GpuEvent(std::shared_ptr<Device> device, CUevent handle) : device_(std::move(device)), handle_(handle) {}
  ~GpuEvent();
  GpuEvent(const GpuEvent &) = delete;
  GpuEvent &operator=(const GpuEvent &) = delete;
  CUevent handle() const { return handle_; }
  /// Waits, asleep, until the recorded work is complete; the error of the device if it went wrong.
  Status synchronize() const;

private:
  std::shared_ptr<Device> device_;
  CUevent handle_;
};

class GpuEventPool {
public:
  explicit GpuEventPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  /// An event without timing that sleeps when waited for. It can be had again when its last user lets go.
  Result<std::shared_ptr<GpuEvent>> acquire();

private:
  std::shared_ptr<Device> device_;
  std::mutex mutex_; // guards what follows
  std::vector<std::shared_ptr<GpuEvent>> events_;
  size_t next_ = 0; // where the search for a free one begins: behind the last that was taken
};

} // namespace tenon::runtime
