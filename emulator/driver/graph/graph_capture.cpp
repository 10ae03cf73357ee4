// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture into a graph: beginning, ending and asking. What happens to work meanwhile is in work/capture.h.
#include "emulator/driver/call.h"
#include "emulator/driver/graph/graph.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/stream.h"

#include <algorithm>
#include <set>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

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

/// A capture whose nodes go into a graph of the driver.
struct GraphCapture final : Capture {
  Graph *graph = nullptr;
  bool ownsGraph = true;               // false: it captures into a graph of the program
  std::vector<CUgraphNode> nodeBuffer; // what cuStreamGetCaptureInfo lends
  std::vector<CUgraphEdgeData> edgeBuffer;

  GraphNode *addNode(Context *nodeContext, Work work, std::vector<GraphEdge> after) override {
    return tenon::emulator::addNode(*graph, nodeContext, std::move(work), std::move(after));
  }
  void discard() override {
    if (!ownsGraph)
      return;
    std::shared_ptr<Graph> last = driver().graphs[graph]; // goes when nothing walks the registry
    driver().graphs.erase(graph);
  }
};

/// Every capture is one.
GraphCapture &captureOf(const Stream &stream) {
  return static_cast<GraphCapture &>(*stream.capture);
}

CUresult begin(Driver &driver, Stream &stream, CUstreamCaptureMode mode, Graph *graph, bool ownsGraph,
               std::vector<GraphEdge> after) {
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream.isLegacy)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (isCapturing(stream))
    return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<GraphCapture>();
  capture->id = ++driver.nextId;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->context = stream.context;
  capture->origin = &stream;
  capture->graph = graph;
  capture->ownsGraph = ownsGraph;
  driver.captures.insert(capture.get());
  stream.capture = capture;
  stream.captureAfter = std::move(after);
  return CUDA_SUCCESS;
}

} // namespace

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
  Graph *graph = captureOf(*on).graph;
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
    *out = reinterpret_cast<CUgraph>(graph);
  else
    capture->discard();
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
  GraphCapture &capture = captureOf(*on);
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
  if (CUresult result = edgesFrom(*captureOf(*on).graph, nodes, data, count, edges); result != CUDA_SUCCESS)
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
  std::swap(*mode, threadCaptureMode());
  return CUDA_SUCCESS;
}
