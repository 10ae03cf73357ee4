// Events are expensive to create and cheap to reuse: the pool keeps what was ever needed at once.
#include "runtime/event.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device.h"

namespace tenon::runtime {

GpuEvent::~GpuEvent() {
  std::lock_guard lock(pool_->mutex_);
  pool_->free_.push_back(handle_);
}

Status GpuEvent::synchronize() const {
  const Device &device = *pool_->device_;
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return cuda::driverStatus(device.driver(), device.driver().cuEventSynchronize(handle_), "cuEventSynchronize");
}

GpuEventPool::~GpuEventPool() {
  cuda::ContextScope scope = device_->enter();
  for (CUevent event : free_)
    (void)device_->driver().cuEventDestroy_v2(event);
}

Result<std::shared_ptr<GpuEvent>> GpuEventPool::acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const CUevent event = free_.back();
      free_.pop_back();
      return std::make_shared<GpuEvent>(shared_from_this(), event);
    }
  }
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUevent event = nullptr;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      device_->driver(), device_->driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC),
      "cuEventCreate"));
  return std::make_shared<GpuEvent>(shared_from_this(), event);
}

} // namespace tenon::runtime
