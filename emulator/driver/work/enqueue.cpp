// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/enqueue.h"

#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/work_operation.h"

#include <algorithm>

namespace tenon::emulator {

static bool legacyWouldWaitForCapture(const Stream &stream) {
  if (!stream.isLegacy)
    return false;
  const Driver &driver = tenon::emulator::driver();
  return std::any_of(driver.streams.begin(), driver.streams.end(), [&](const Stream *other) {
    return other->context == stream.context && other->isBlocking() && isCapturing(*other);
  });
}

void submitTo(Stream &stream, Work &&work, const OperationPtr &alsoAfter) {
  auto operation = std::make_shared<WorkOperation>(stream.context, stream.id, std::move(work));
  operation->after = orderInStream(stream);
  if (alsoAfter)
    operation->after.push_back(alsoAfter);
  stream.tail = operation;
  driver().queue.submit(operation);
}

CUresult enqueue(Stream &stream, Work &&work) {
  if (isCapturing(stream))
    return captureWork(stream, std::move(work));
  if (legacyWouldWaitForCapture(stream))
    return invalidateCaptures(stream.context, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  submitTo(stream, std::move(work));
  return CUDA_SUCCESS;
}

CUresult finishStream(Stream &stream) {
  if (isCapturing(stream))
    return invalidateCapture(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (stream.isLegacy && !driver().queue.idle())
    if (CUresult result = enqueue(stream, EmptyWork{}); result != CUDA_SUCCESS)
      return result;
  return driver().queue.finish(stream.tail);
}

} // namespace tenon::emulator
