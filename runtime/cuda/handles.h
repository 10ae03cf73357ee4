// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owning handles of driver objects. Each borrows the Driver, which outlives it, and is destroyed with the object's
// context current (ContextScope). A failure to destroy cannot be answered: after a kernel's fault every call fails.
#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/cuda/driver_status.h"

#include <utility>

namespace tenon::runtime::cuda {

/// Makes `context` current for a scope.
class ContextScope {
public:
  ContextScope(const Driver &driver, CUcontext context)
      : driver_(driver), result_(driver.cuCtxPushCurrent_v2(context)) {}
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (result_ == CUDA_SUCCESS)
      (void)driver_.cuCtxPopCurrent_v2(&popped);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  /// What cuCtxPushCurrent answered.
  Status status() const { return driverStatus(driver_, result_, "cuCtxPushCurrent_v2"); }

private:
  const Driver &driver_;
  CUresult result_;
};

/// A handle that the driver's function `Destroy` frees.
template <typename Handle, auto Destroy> class OwnedHandle {
public:
  OwnedHandle() = default;
  OwnedHandle(const Driver &driver, Handle handle) : driver_(&driver), handle_(handle) {}
  OwnedHandle(OwnedHandle &&other) noexcept { *this = std::move(other); }
  OwnedHandle &operator=(OwnedHandle &&other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnedHandle() {
    if (handle_)
      (void)(driver_->*Destroy)(handle_);
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle(); }

private:
  const Driver *driver_ = nullptr;
  Handle handle_ = Handle();
};

using StreamHandle = OwnedHandle<CUstream, &Driver::cuStreamDestroy_v2>;
using EventHandle = OwnedHandle<CUevent, &Driver::cuEventDestroy_v2>;
using ModuleHandle = OwnedHandle<CUmodule, &Driver::cuModuleUnload>;

/// A stream that is not ordered with the legacy default stream, which belongs to other libraries of the process. The
/// context is current. Errors of the driver.
Result<StreamHandle> createStream(const Driver &driver);

} // namespace tenon::runtime::cuda
