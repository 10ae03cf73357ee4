// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is asked of a stream that belongs to the caller: whether a capture into a graph is going on, and which stream it
// is. The context is current.
#pragma once

#include "runtime/cuda/handles.h"

namespace tenon::runtime {

/// Whether what is given to `stream` goes into a graph of the caller's. FailedPrecondition: an error before has ended
/// the capture.
Result<bool> isCapturing(const cuda::Driver &driver, CUstream stream);

/// A number that no other stream of the process has had; a handle is used again.
uint64_t streamId(const cuda::Driver &driver, CUstream stream);

/// While this lives, the thread may do what a capture in progress forbids others: load code, allocate.
class RelaxedCapture {
public:
  /// Does nothing where nothing is captured.
  RelaxedCapture(const cuda::Driver &driver, bool isCaptured);
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  /// What the driver answered; the capture is not relaxed where it refused.
  Status takeStatus() { return std::move(status_); }

private:
  const cuda::Driver &driver_;
  bool isActive_;
  Status status_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace tenon::runtime
