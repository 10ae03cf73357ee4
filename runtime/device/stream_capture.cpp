// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each question is one call of the driver; older drivers capture nothing.
#include "runtime/device/stream_capture.h"

namespace tenon::runtime {

Result<bool> isCapturing(const cuda::Driver &driver, CUstream stream) {
  if (!driver.cuStreamIsCapturing)
    return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing"));
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    return makeError(StatusCode::FailedPrecondition, "the stream's capture was invalidated by an earlier error");
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

uint64_t streamId(const cuda::Driver &driver, CUstream stream) {
  unsigned long long id = 0;
  if (driver.cuStreamGetId && driver.cuStreamGetId(stream, &id) == CUDA_SUCCESS)
    return id;
  return reinterpret_cast<uintptr_t>(stream);
}

RelaxedCapture::RelaxedCapture(const cuda::Driver &driver, bool isCaptured) : driver_(driver), isActive_(isCaptured) {
  if (!isActive_ || !driver_.cuThreadExchangeStreamCaptureMode) {
    isActive_ = false;
    return;
  }
  status_ = cuda::driverStatus(driver_, driver_.cuThreadExchangeStreamCaptureMode(&mode_),
                               "cuThreadExchangeStreamCaptureMode");
  isActive_ = status_.ok();
}

RelaxedCapture::~RelaxedCapture() {
  if (isActive_)
    (void)driver_.cuThreadExchangeStreamCaptureMode(&mode_);
}

} // namespace tenon::runtime
