// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Captures of the process into graphs, which are the caller's: whether one is going on, and what may be done meanwhile.
// The context is current.
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

/// Makes a context current for giving memory, code and graphs back. A driver waits for all of a context's work where
/// memory is freed and code unloaded (driver 580, H200), so that nothing else waits for what may still use them: a call
/// that only waits would end the captures of all threads. Freeing memory, unloading code and letting an instantiated
/// graph go end them too, but not in a relaxed thread.
class ReleaseScope {
public:
  ReleaseScope(const cuda::Driver &driver, CUcontext context) : current_(driver, context), relaxed_(driver, true) {}

private:
  cuda::ContextScope current_;
  RelaxedCapture relaxed_;
};

} // namespace tenon::runtime
