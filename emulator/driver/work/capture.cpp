// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/capture.h"

#include "emulator/driver/module/module.h"

#include <algorithm>

namespace tenon::emulator {

void addEdges(std::vector<GraphEdge> &to, const std::vector<GraphEdge> &from) {
  for (const GraphEdge &edge : from)
    if (std::none_of(to.begin(), to.end(), [&](const GraphEdge &other) { return other.from == edge.from; }))
      to.push_back(edge);
}

CUresult captureWork(Stream &stream, Work work) {
  Capture &capture = *stream.capture;
  if (capture.invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  Context *context = stream.context;
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    context = kernel->kernel->module->context;
  GraphNode *node = capture.addNode(context, std::move(work), stream.captureAfter);
  stream.captureAfter = {{node, {}}};
  return CUDA_SUCCESS;
}

CUresult captureEvent(Stream &stream, Event &event) {
  if (stream.capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.captured = CapturedEvent{stream.capture, stream.captureAfter};
  event.recorded = nullptr;
  return CUDA_SUCCESS;
}

CUresult joinCapture(Stream &stream, Event &event) {
  if (isCapturing(stream) && stream.capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!event.captured) // captured work would depend on work that runs
    return event.recorded ? invalidateCapture(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
  Capture &capture = *event.captured->capture;
  if (capture.ended)
    return isCapturing(stream) ? invalidateCapture(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                               : CUDA_ERROR_CAPTURED_EVENT;
  if (capture.invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream.isLegacy) {
    capture.invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (isCapturing(stream) && stream.capture != event.captured->capture) {
    capture.invalid = true;
    return invalidateCapture(stream, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  stream.capture = event.captured->capture;
  addEdges(stream.captureAfter, event.captured->after);
  return CUDA_SUCCESS;
}

CUresult invalidateCapture(Stream &stream, CUresult result) {
  stream.capture->invalid = true;
  return result;
}

CUresult invalidateCaptures(Context *context, CUresult result) {
  forEachStream(driver(), [&](Stream &stream) {
    if (stream.context == context && isCapturing(stream))
      stream.capture->invalid = true;
  });
  return result;
}

void endCapture(Driver &driver, const std::shared_ptr<Capture> &capture) {
  capture->ended = true;
  driver.captures.erase(capture.get());
  forEachStream(driver, [&](Stream &stream) {
    if (stream.capture == capture) {
      stream.capture = nullptr;
      stream.captureAfter.clear();
    }
  });
}

void forgetCapture(Stream &stream) {
  if (!isCapturing(stream))
    return;
  std::shared_ptr<Capture> capture = stream.capture;
  capture->invalid = true;
  if (capture->origin != &stream)
    return;
  endCapture(driver(), capture);
  capture->discard();
}

} // namespace tenon::emulator
