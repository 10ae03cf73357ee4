// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events are expensive to create and cheap to reuse: the pool keeps what was ever needed at once.
#include "runtime/device/gpu_event.h"

#include "runtime/cuda/driver_status.h"

#include <atomic>

namespace tenon::runtime {

GpuEvent::~GpuEvent() {
  cuda::ContextScope scope = device_->enter();
  (void)device_->driver().cuEventDestroy_v2(handle_);
}

Status GpuEvent::synchronize() const {
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return cuda::driverStatus(device_->driver(), device_->driver().cuEventSynchronize(handle_), "cuEventSynchronize");
}

Result<std::shared_ptr<GpuEvent>> GpuEventPool::acquire() {
  std::lock_guard lock(mutex_);
  // Only the pool has it: nobody can take another reference but here.
  for (size_t i = 0; i < events_.size(); ++i) {
    next_ = next_ + 1 < events_.size() ? next_ + 1 : 0;
    if (events_[next_].use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire); // behind the last user's
      return events_[next_];
    }
  }
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUevent event = nullptr;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      device_->driver(), device_->driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC),
      "cuEventCreate"));
  events_.push_back(std::make_shared<GpuEvent>(device_, event));
  return events_.back();
}

} // namespace tenon::runtime
