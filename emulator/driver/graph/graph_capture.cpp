// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/graph/capture.h"

#include "emulator/driver/state.h"

#include <algorithm>
#include <set>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

CUstreamCaptureMode &threadMode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

/// Every stream there is, the default ones too.
template <typename F> void forEachStream(Driver &driver, F visit) {
  for (Stream *stream : driver.streams)
    visit(*stream);
  for (Context *context : driver.contexts)
    for (auto &[thread, stream] : context->perThreadStreams)
      visit(*stream);
}

void addEdges(std::vector<GraphEdge> &to, const std::vector<GraphEdge> &from) {
  for (const GraphEdge &edge : from)
    if (std::none_of(to.begin(), to.end(), [&](const GraphEdge &other) { return other.from == edge.from; }))
      to.push_back(edge);
}

/// True: `nodes` come before the ends in `after`, or are among them.
bool allBefore(const std::vector<GraphEdge> &nodes, const std::vector<GraphEdge> &after) {
  std::set<const GraphNode *> seen;
  std::vector<const GraphNode *> open;
  for (const GraphEdge &edge : after)
    open.push_back(edge.from);
  while (!open.empty()) {
    const GraphNode *node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    for (const GraphEdge &edge : node->after)
      open.push_back(edge.from);
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](const GraphEdge &edge) { return seen.count(edge.from) != 0; });
}

CUresult begin(Driver &driver, Stream &stream, CUstreamCaptureMode mode, Graph *graph, bool ownsGraph,
               std::vector<GraphEdge> after) {
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream.isLegacy)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (isCapturing(stream))
    return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = ++driver.nextId;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->graph = graph;
  capture->ownsGraph = ownsGraph;
  driver.captures.insert(capture.get());
  stream.capture = capture;
  stream.captureAfter = std::move(after);
  return CUDA_SUCCESS;
}

/// All streams leave the capture.
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

void destroyGraph(Driver &driver, Graph *graph) {
  std::shared_ptr<Graph> last = driver.graphs[graph];
  driver.graphs.erase(graph);
}

} // namespace

bool isCapturing(const Stream &stream) {
  return stream.capture != nullptr;
}

CUresult captureWork(Stream &stream, Work work) {
  Capture &capture = *stream.capture;
  if (capture.invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  Context *context = stream.context;
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    context = kernel->kernel->module->context;
  GraphNode *node = addNode(*capture.graph, context, std::move(work), stream.captureAfter);
  stream.captureAfter = {{node, {}}};
  return CUDA_SUCCESS;
}

CUresult captureEvent(Stream &stream, Event &event) {
  if (stream.capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.captured = std::make_unique<CapturedEvent>(CapturedEvent{stream.capture, stream.captureAfter});
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

CUresult unsafeCall(Driver &driver) {
  if (driver.captures.empty() || threadMode() == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (Capture *capture : driver.captures) {
    bool own = capture->thread == std::this_thread::get_id();
    bool prohibits =
        own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
            : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && threadMode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!prohibits)
      continue;
    capture->invalid = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

void forgetCapture(Stream &stream) {
  if (!isCapturing(stream))
    return;
  std::shared_ptr<Capture> capture = stream.capture;
  capture->invalid = true;
  if (capture->origin != &stream)
    return;
  endCapture(driver(), capture);
  if (capture->ownsGraph)
    destroyGraph(driver(), capture->graph);
}

} // namespace tenon::emulator

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  auto graph = std::make_shared<Graph>();
  CUresult result = begin(driver, *on, mode, graph.get(), true, {});
  if (result == CUDA_SUCCESS)
    driver.graphs[graph.get()] = graph;
  return result;
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode *after,
                                     const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  Graph *graph = findGraph(handle);
  std::vector<GraphEdge> edges;
  if (!graph || edgesFrom(*graph, after, data, count, edges) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  return begin(driver, *on, mode, graph, false, std::move(edges));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *out) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  if (!isCapturing(*on))
    return CUDA_ERROR_ILLEGAL_STATE;
  std::shared_ptr<Capture> capture = on->capture;
  if (capture->origin != on)
    return invalidateCapture(*on, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult result = capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS)
    forEachStream(driver, [&](Stream &other) {
      if (other.capture == capture && !allBefore(other.captureAfter, on->captureAfter))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    });
  endCapture(driver, capture);
  if (result == CUDA_SUCCESS)
    *out = reinterpret_cast<CUgraph>(capture->graph);
  else if (capture->ownsGraph)
    destroyGraph(driver, capture->graph);
  return result;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  if (on->isLegacy)
    for (Stream *other : driver.streams)
      if (other->context == context && other->isBlocking() && isCapturing(*other))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = !isCapturing(*on)      ? CU_STREAM_CAPTURE_STATUS_NONE
            : on->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (CUresult result = cuStreamIsCapturing(stream, status);
      result != CUDA_SUCCESS || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return result;
  Capture &capture = *on->capture;
  capture.nodeBuffer.clear();
  capture.edgeBuffer.clear();
  bool plain = true;
  for (const GraphEdge &edge : on->captureAfter) {
    capture.nodeBuffer.push_back(reinterpret_cast<CUgraphNode>(edge.from));
    capture.edgeBuffer.push_back(edge.data);
    plain &= !edge.data.from_port && !edge.data.type;
  }
  if (nodes && !edges && !plain)
    return CUDA_ERROR_LOSSY_QUERY;
  if (id)
    *id = capture.id;
  if (graph)
    *graph = reinterpret_cast<CUgraph>(capture.graph);
  if (nodes)
    *nodes = capture.nodeBuffer.data();
  if (edges)
    *edges = capture.edgeBuffer.data();
  if (count)
    *count = capture.nodeBuffer.size();
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data,
                                           size_t count, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isCapturing(*on))
    return CUDA_ERROR_ILLEGAL_STATE;
  if (on->capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphEdge> edges;
  if (CUresult result = edgesFrom(*on->capture->graph, nodes, data, count, edges); result != CUDA_SUCCESS)
    return result;
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    on->captureAfter.clear();
  addEdges(on->captureAfter, edges);
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  TENON_ENTER();
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, threadMode());
  return CUDA_SUCCESS;
}
