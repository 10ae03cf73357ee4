// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The changes that an executable graph allows: of one node, or of all at once, to what another graph of the same shape
// says. What stays is the shape, and for each kind of node where its operands lie.
#include "emulator/driver/call.h"
#include "emulator/driver/graph/graph.h"
#include "emulator/driver/graph/graph_work.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/memory_ops.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

using namespace tenon;
using namespace tenon::emulator;

namespace {

/// The node of the executable that was made from `id`, in embedded graphs too.
GraphNode *findOrigin(Graph &graph, uint64_t id) {
  for (auto &node : graph.nodes) {
    if (node->origin == id)
      return node.get();
    if (auto *child = std::get_if<ChildGraphWork>(&node->work))
      if (GraphNode *inside = findOrigin(*child->graph, id))
        return inside;
  }
  return nullptr;
}

template <typename T> T *execWork(CUgraphExec execHandle, CUgraphNode nodeHandle, GraphNode **found = nullptr) {
  GraphExec *exec = findExec(execHandle);
  GraphNode *node = findNode(nodeHandle);
  node = exec && node ? findOrigin(*exec->graph, node->id) : nullptr;
  if (found)
    *found = node;
  return node ? std::get_if<T>(&node->work) : nullptr;
}

bool sameMemory(Driver &driver, CUmemorytype aType, CUdeviceptr a, CUmemorytype bType, CUdeviceptr b) {
  return aType == bType && deviceOf(driver, a) == deviceOf(driver, b);
}
bool isFlat(const CUDA_MEMCPY3D &copy) {
  return copy.Height <= 1 && copy.Depth <= 1;
}
CUdeviceptr sourceAddress(const CUDA_MEMCPY3D &c) {
  return c.srcMemoryType == CU_MEMORYTYPE_HOST ? hostAddress(c.srcHost) : c.srcDevice;
}
CUdeviceptr targetAddress(const CUDA_MEMCPY3D &c) {
  return c.dstMemoryType == CU_MEMORYTYPE_HOST ? hostAddress(c.dstHost) : c.dstDevice;
}

/// Whether an instantiated copy may become the other one: operands stay where they are.
bool mayBecome(Driver &driver, const CopyWork &from, const CopyWork &to) {
  return sameMemory(driver, from.copy.srcMemoryType, sourceAddress(from.copy), to.copy.srcMemoryType,
                    sourceAddress(to.copy)) &&
         sameMemory(driver, from.copy.dstMemoryType, targetAddress(from.copy), to.copy.dstMemoryType,
                    targetAddress(to.copy));
}
bool mayBecome(Driver &driver, const FillWork &from, const FillWork &to) {
  if (memcmp(&from.fill, &to.fill, sizeof from.fill) == 0)
    return true;
  return from.fill.height <= 1 && to.fill.height <= 1 &&
         deviceOf(driver, from.fill.dst) == deviceOf(driver, to.fill.dst);
}

struct UpdateError {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  GraphNode *node = nullptr, *from = nullptr;
};

UpdateError compareWork(Driver &driver, GraphNode &old, GraphNode &wanted);

/// Nodes are paired in the order of their creation, as captures and programs that build a graph twice make them.
UpdateError compareGraphs(Driver &driver, Graph &old, Graph &wanted) {
  size_t common = std::min(old.nodes.size(), wanted.nodes.size());
  std::unordered_map<const GraphNode *, size_t> oldIndex;
  for (size_t k = 0; k < old.nodes.size(); ++k)
    oldIndex[old.nodes[k].get()] = k;
  std::unordered_map<const GraphNode *, size_t> index;
  for (size_t k = 0; k < wanted.nodes.size(); ++k)
    index[wanted.nodes[k].get()] = k;
  for (size_t k = 0; k < common; ++k) {
    GraphNode &a = *old.nodes[k], &b = *wanted.nodes[k];
    if (nodeType(a.work) != nodeType(b.work))
      return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &b, nullptr};
    for (const GraphEdge &edge : b.after) {
      size_t from = index[edge.from];
      bool found = std::any_of(a.after.begin(), a.after.end(), [&](const GraphEdge &other) {
        return oldIndex[other.from] == from && memcmp(&other.data, &edge.data, sizeof edge.data) == 0;
      });
      if (!found)
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &b, edge.from};
    }
    if (a.after.size() != b.after.size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &b, nullptr};
    if (UpdateError error = compareWork(driver, a, b); error.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
      return error;
  }
  if (old.nodes.size() != wanted.nodes.size())
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
            wanted.nodes.size() > common ? wanted.nodes[common].get() : nullptr, nullptr};
  return {};
}

UpdateError compareWork(Driver &driver, GraphNode &old, GraphNode &wanted) {
  auto wrong = [&](CUgraphExecUpdateResult result) { return UpdateError{result, &wanted, nullptr}; };
  if (auto *a = std::get_if<KernelWork>(&old.work)) {
    const KernelWork &b = std::get<KernelWork>(wanted.work);
    if (a->kernel->module->context != b.kernel->module->context)
      return wrong(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
    if (a->cooperative != b.cooperative)
      return wrong(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  } else if (auto *copy = std::get_if<CopyWork>(&old.work)) {
    if (!mayBecome(driver, *copy, std::get<CopyWork>(wanted.work)))
      return wrong(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  } else if (auto *fill = std::get_if<FillWork>(&old.work)) {
    if (!mayBecome(driver, *fill, std::get<FillWork>(wanted.work)))
      return wrong(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  } else if (auto *allocation = std::get_if<MemoryAllocWork>(&old.work)) {
    if (allocation->parameters.dptr != std::get<MemoryAllocWork>(wanted.work).parameters.dptr)
      return wrong(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  } else if (auto *child = std::get_if<ChildGraphWork>(&old.work)) {
    return compareGraphs(driver, *child->graph, *std::get<ChildGraphWork>(wanted.work).graph);
  }
  return {};
}

void takeWork(Graph &graph, const Graph &from) {
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    GraphNode &node = *graph.nodes[k];
    const GraphNode &source = *from.nodes[k];
    node.context = source.context;
    if (auto *child = std::get_if<ChildGraphWork>(&node.work)) {
      takeWork(*child->graph, *std::get<ChildGraphWork>(source.work).graph);
    } else {
      node.work = source.work;
      node.attributes = source.attributes;
    }
  }
}

} // namespace

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  KernelWork *work = execWork<KernelWork>(exec, handle);
  if (!work)
    return CUDA_ERROR_INVALID_VALUE;
  KernelWork changed = *work;
  if (CUresult result = kernelWorkFrom(parameters, changed); result != CUDA_SUCCESS)
    return result;
  if (changed.kernel->module->context != work->kernel->module->context)
    return CUDA_ERROR_INVALID_VALUE;
  *work = std::move(changed);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_MEMCPY3D *parameters,
                                        CUcontext on) {
  TENON_ENTER_CONTEXT();
  CopyWork *work = execWork<CopyWork>(exec, handle), changed;
  if (!work || (on && !findContext(on)))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = copyWorkFrom(driver, parameters, changed); result != CUDA_SUCCESS)
    return result;
  if (!isFlat(work->copy) || !isFlat(changed.copy) || !mayBecome(driver, *work, changed))
    return CUDA_ERROR_INVALID_VALUE;
  *work = changed;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *parameters,
                                        CUcontext on) {
  TENON_ENTER_CONTEXT();
  FillWork *work = execWork<FillWork>(exec, handle), changed;
  if (!work || (on && !findContext(on)))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = fillWorkFrom(driver, parameters, changed); result != CUDA_SUCCESS)
    return result;
  if (!mayBecome(driver, *work, changed))
    return CUDA_ERROR_INVALID_VALUE;
  *work = changed;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *parameters) {
  TENON_ENTER();
  HostWork *work = execWork<HostWork>(exec, handle);
  return work ? hostWorkFrom(parameters, *work) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode handle, CUgraph child) {
  TENON_ENTER();
  ChildGraphWork *work = execWork<ChildGraphWork>(exec, handle);
  Graph *wanted = findGraph(child);
  if (!work || !wanted || compareGraphs(driver, *work->graph, *wanted).result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  takeWork(*work->graph, *wanted);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode handle, CUevent event) {
  TENON_ENTER();
  EventRecordWork *work = execWork<EventRecordWork>(exec, handle);
  if (!work || !findEvent(event))
    return CUDA_ERROR_INVALID_VALUE;
  work->event = findEvent(event);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode handle, CUevent event) {
  TENON_ENTER();
  EventWaitWork *work = execWork<EventWaitWork>(exec, handle);
  if (!work || !findEvent(event))
    return CUDA_ERROR_INVALID_VALUE;
  work->event = findEvent(event);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
  TENON_ENTER();
  MemoryOpsWork *work = execWork<MemoryOpsWork>(exec, handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  return makeMemoryOpsWork(driver, parameters->paramArray, parameters->count, parameters->flags, *work);
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode handle, CUgraphNodeParams *parameters) {
  TENON_ENTER_CONTEXT();
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  switch (parameters->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    CUDA_KERNEL_NODE_PARAMS kernel;
    memcpy(&kernel, &parameters->kernel, sizeof kernel);
    return cuGraphExecKernelNodeSetParams(exec, handle, &kernel);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return cuGraphExecMemcpyNodeSetParams(exec, handle, &parameters->memcpy.copyParams, parameters->memcpy.copyCtx);
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const auto &p = parameters->memset;
    CUDA_MEMSET_NODE_PARAMS fill{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
    return cuGraphExecMemsetNodeSetParams(exec, handle, &fill, p.ctx);
  }
  case CU_GRAPH_NODE_TYPE_HOST: {
    CUDA_HOST_NODE_PARAMS host{parameters->host.fn, parameters->host.userData};
    return cuGraphExecHostNodeSetParams(exec, handle, &host);
  }
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return cuGraphExecChildGraphNodeSetParams(exec, handle, parameters->graph.graph);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return cuGraphExecEventRecordNodeSetEvent(exec, handle, parameters->eventRecord.event);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return cuGraphExecEventWaitNodeSetEvent(exec, handle, parameters->eventWait.event);
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
    const auto &p = parameters->memOp;
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops{p.ctx, p.count, p.paramArray, p.flags};
    return cuGraphExecBatchMemOpNodeSetParams(exec, handle, &ops);
  }
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

namespace {
/// A node that may be switched off, or null.
GraphNode *switchable(CUgraphExec exec, CUgraphNode handle) {
  GraphNode *node = nullptr;
  bool may =
      execWork<KernelWork>(exec, handle, &node) || execWork<CopyWork>(exec, handle) || execWork<FillWork>(exec, handle);
  return may ? node : nullptr;
}
} // namespace

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned enabled) {
  TENON_ENTER();
  GraphNode *node = switchable(exec, handle);
  if (!node)
    return CUDA_ERROR_INVALID_VALUE;
  node->enabled = enabled != 0;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned *enabled) {
  TENON_ENTER();
  GraphNode *node = switchable(exec, handle);
  if (!node || !enabled)
    return CUDA_ERROR_INVALID_VALUE;
  *enabled = node->enabled;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec execHandle, CUgraph handle, CUgraphExecUpdateResultInfo *info) {
  TENON_ENTER();
  GraphExec *exec = findExec(execHandle);
  Graph *graph = findGraph(handle);
  if (!exec || !graph || !info)
    return CUDA_ERROR_INVALID_VALUE;
  UpdateError error = compareGraphs(driver, *exec->graph, *graph);
  *info = {error.result, reinterpret_cast<CUgraphNode>(error.node), reinterpret_cast<CUgraphNode>(error.from)};
  if (error.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  takeWork(*exec->graph, *graph);
  return CUDA_SUCCESS;
}
