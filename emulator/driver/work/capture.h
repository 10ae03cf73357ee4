// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture: what is enqueued in a stream becomes nodes of a graph and does not run. A capture begins in one
// stream; another joins when it waits for an event recorded in a stream that takes part, and all must be joined again
// when it ends. Whatever would make captured work depend on work that runs, or the other way round, invalidates the
// capture. Which graph the nodes go to is in graph/graph_capture.cpp.
#pragma once

#include "emulator/driver/capture_rule.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/graph_edge.h"
#include "emulator/driver/work/stream.h"
#include "emulator/driver/work/work.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::emulator {

struct Capture : CaptureRule {
  virtual ~Capture() = default;
  virtual GraphNode *addNode(Context *nodeContext, Work work, std::vector<GraphEdge> after) = 0;
  /// It ends without a graph.
  virtual void discard() = 0;

  uint64_t id = 0;
  Stream *origin = nullptr; // where it began, and has to end
  bool ended = false;
};

inline bool isCapturing(const Stream &stream) {
  return stream.capture != nullptr;
}
/// A node for the work, after what the stream has captured so far.
CUresult captureWork(Stream &stream, Work work);
CUresult captureEvent(Stream &stream, Event &event);
/// cuStreamWaitEvent where the stream or the event belongs to a capture.
CUresult joinCapture(Stream &stream, Event &event);
/// Make captures invalid and return `result`: of the stream, of all streams of the context.
CUresult invalidateCapture(Stream &stream, CUresult result);
CUresult invalidateCaptures(Context *context, CUresult result);
/// All streams leave the capture.
void endCapture(Driver &driver, const std::shared_ptr<Capture> &capture);
/// The stream is about to go.
void forgetCapture(Stream &stream);
/// Adds the edges from nodes that `to` has none from.
void addEdges(std::vector<GraphEdge> &to, const std::vector<GraphEdge> &from);

} // namespace tenon::emulator
