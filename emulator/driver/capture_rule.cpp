// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/capture_rule.h"

namespace tenon::emulator {

CUstreamCaptureMode &threadCaptureMode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

CUresult unsafeCall(const std::set<CaptureRule *> &captures) {
  if (captures.empty() || threadCaptureMode() == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (CaptureRule *capture : captures) {
    bool own = capture->thread == std::this_thread::get_id();
    bool prohibits =
        own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
            : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && threadCaptureMode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!prohibits)
      continue;
    capture->invalid = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

} // namespace tenon::emulator
