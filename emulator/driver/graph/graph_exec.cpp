// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executable graphs: instantiation and launch. What may be changed in one is in graph_update.cpp.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/graph/graph.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/stream.h"
#include "emulator/driver/work/work_operation.h"

#include <algorithm>
#include <unordered_map>

using namespace tenon;
using namespace tenon::emulator;

namespace {

bool orderAll(Graph &graph) {
  graph.order = topologicalOrder(graph);
  if (graph.order.empty() && !graph.nodes.empty())
    return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const auto &node) {
    auto *child = std::get_if<ChildGraphWork>(&node->work);
    return !child || orderAll(*child->graph);
  });
}

CUresult instantiate(Driver &driver, Context *context, CUgraphExec *out, Graph *graph, uint64_t flags,
                     CUgraphInstantiateResult &why) {
  why = CUDA_GRAPH_INSTANTIATE_ERROR;
  constexpr uint64_t kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                              CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (!out || !graph || (flags & ~kKnown))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    return CUDA_ERROR_NOT_SUPPORTED;
  bool hasMemory = hasMemoryNodes(*graph);
  if (hasMemory) // one at a time: they would share addresses
    for (GraphExec *other : driver.graphExecs)
      if (other->source == graph)
        return CUDA_ERROR_INVALID_VALUE;
  auto exec = std::make_unique<GraphExec>();
  exec->graph = cloneGraph(*graph, false);
  exec->source = graph;
  exec->context = context;
  exec->flags = flags;
  exec->hasMemory = hasMemory;
  if (!orderAll(*exec->graph)) {
    why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE; // a cycle
    return CUDA_ERROR_INVALID_VALUE;
  }
  why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  driver.graphExecs.insert(exec.get());
  *out = reinterpret_cast<CUgraphExec>(exec.release());
  return CUDA_SUCCESS;
}

/// Turns the nodes into operations after `begin`; `end` comes after the last of them.
void submitNodes(Driver &driver, Graph &graph, uint64_t stream, const OperationPtr &begin, Operation &end) {
  std::unordered_map<const GraphNode *, OperationPtr> made;
  std::unordered_map<const GraphNode *, bool> followed;
  for (GraphNode *node : graph.order) {
    auto operation = std::make_shared<WorkOperation>(node->context, stream);
    for (const GraphEdge &edge : node->after) {
      operation->after.push_back(made[edge.from]);
      followed[edge.from] = true;
    }
    if (node->after.empty())
      operation->after.push_back(begin);
    made[node] = operation;
    if (auto *child = std::get_if<ChildGraphWork>(&node->work)) {
      auto inside = std::make_shared<WorkOperation>(node->context, stream);
      inside->after = std::move(operation->after);
      driver.queue.submit(inside);
      operation->after = {inside};
      submitNodes(driver, *child->graph, stream, inside, *operation);
    } else if (node->enabled) {
      operation->work = node->work;
    }
    if (auto *wait = std::get_if<EventWaitWork>(&operation->work); wait && driver.events.count(wait->event))
      operation->after.push_back(wait->event->recorded);
    if (auto *record = std::get_if<EventRecordWork>(&operation->work); record && driver.events.count(record->event)) {
      record->event->captured.reset();
      record->event->recorded = operation;
    }
    driver.queue.submit(operation);
  }
  for (GraphNode *node : graph.order)
    if (!followed.count(node))
      end.after.push_back(made[node]);
}

/// Allocations of an earlier launch that are not freed: an error, or freed here.
CUresult settleMemory(Driver &driver, GraphExec &exec) {
  if (CUresult result = driver.queue.finish(exec.last); result != CUDA_SUCCESS)
    return result;
  for (GraphNode *node : exec.graph->order)
    if (auto *work = std::get_if<MemoryAllocWork>(&node->work)) {
      CUdeviceptr address = work->parameters.dptr;
      Memory &memory = *deviceOf(driver, address)->memory;
      if (!memory.find(address))
        continue;
      if (driver.pendingFrees.count(address)) {
        if (CUresult result = driver.queue.finishAll(nullptr); result != CUDA_SUCCESS)
          return result;
      } else if (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) {
        memory.retire(address);
      } else {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags) {
  TENON_ENTER_CONTEXT();
  CUgraphInstantiateResult why;
  return instantiate(driver, context, out, findGraph(graph), flags, why);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  parameters->hErrNode_out = nullptr;
  return instantiate(driver, context, out, findGraph(graph), parameters->flags, parameters->result_out);
}
CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags) {
  TENON_ENTER();
  GraphExec *exec = findExec(handle);
  if (!exec || !flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec handle) {
  TENON_ENTER();
  GraphExec *exec = findExec(handle);
  if (!exec)
    return CUDA_ERROR_INVALID_VALUE;
  TENON_UNSAFE_CALL();
  driver.graphExecs.erase(exec); // operations of a launch have copies of their own
  delete exec;
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  return findExec(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  GraphExec *exec = findExec(handle);
  if (!exec)
    return CUDA_ERROR_INVALID_VALUE;
  if (isCapturing(*on)) {
    if (exec->hasMemory)
      return invalidateCapture(*on, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    std::shared_ptr<Graph> child = cloneGraph(*exec->graph, true);
    child->isEmbedded = true;
    return captureWork(*on, ChildGraphWork{child});
  }
  if (exec->hasMemory)
    if (CUresult result = settleMemory(driver, *exec); result != CUDA_SUCCESS)
      return result;
  if (CUresult result = enqueue(*on, EmptyWork{}); result != CUDA_SUCCESS)
    return result;
  OperationPtr begin = on->tail;
  if (!isDone(exec->last)) { // the same graph does not run beside itself
    auto after = std::make_shared<WorkOperation>(context, on->id);
    after->after = {begin, exec->last};
    driver.queue.submit(after);
    begin = after;
  }
  auto end = std::make_shared<WorkOperation>(context, on->id);
  end->after = {begin};
  submitNodes(driver, *exec->graph, on->id, begin, *end);
  on->tail = exec->last = end;
  driver.queue.submit(end);
  return CUDA_SUCCESS;
}
