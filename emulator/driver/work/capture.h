// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture: what is enqueued becomes nodes of a graph. A capture begins in one stream; another joins when it
// waits for an event recorded in a stream that takes part, and all must be joined again when it ends. Whatever would
// make captured work depend on work that runs, or the other way round, invalidates the capture.
#pragma once

#include "emulator/driver/graph/graph.h"

#include <thread>

namespace tenon::emulator {

struct Stream;

struct Capture {
  uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream *origin = nullptr;
  Graph *graph = nullptr;
  bool ownsGraph = true; // false: it captures into a graph of the program
  bool invalid = false;
  bool ended = false;
  std::vector<CUgraphNode> nodeBuffer; // what cuStreamGetCaptureInfo lends
  std::vector<CUgraphEdgeData> edgeBuffer;
};

struct CapturedEvent {
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> after;
};

bool isCapturing(const Stream &stream);
/// A node for the work, after what the stream has captured so far.
CUresult captureWork(Stream &stream, Work work);
CUresult captureEvent(Stream &stream, Event &event);
/// cuStreamWaitEvent where the stream or the event belongs to a capture.
CUresult joinCapture(Stream &stream, Event &event);
/// Make captures invalid and return `result`: of the stream, of all streams of the context.
CUresult invalidateCapture(Stream &stream, CUresult result);
CUresult invalidateCaptures(Context *context, CUresult result);
/// A call that could disturb a capture, by the calling thread's mode: CUDA_SUCCESS or what it has to return.
CUresult unsafeCall(Driver &driver);
/// The stream is about to go.
void forgetCapture(Stream &stream);

} // namespace tenon::emulator

#define TENON_UNSAFE_CALL()                                                                                            \
  if (CUresult prohibited = ::tenon::emulator::unsafeCall(driver); prohibited != CUDA_SUCCESS)                         \
  return prohibited
