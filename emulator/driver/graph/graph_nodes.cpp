// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of graphs by kind: adding them, reading and setting their parameters and attributes.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/graph/graph.h"
#include "emulator/driver/graph/graph_work.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/work/allocation_work.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/kernel_work.h"
#include "emulator/driver/work/memory_ops.h"

#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace {

/// The common end of every Add function.
CUresult add(Context *context, CUgraphNode *out, Graph *graph, const CUgraphNode *after, const CUgraphEdgeData *data,
             size_t count, Work work) {
  std::vector<GraphEdge> edges;
  if (!out || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = edgesFrom(*graph, after, data, count, edges); result != CUDA_SUCCESS)
    return result;
  GraphNode *node = addNode(*graph, context, std::move(work), std::move(edges));
  if (const auto *kernel = std::get_if<KernelWork>(&node->work))
    node->context = kernel->kernel->module->context;
  *out = reinterpret_cast<CUgraphNode>(node);
  return CUDA_SUCCESS;
}

template <typename T> T *workOf(CUgraphNode handle, GraphNode **found = nullptr) {
  GraphNode *node = findNode(handle);
  if (found)
    *found = node;
  return node ? std::get_if<T>(&node->work) : nullptr;
}

} // namespace

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  KernelWork work;
  CUresult result = kernelWorkFrom(parameters, work);
  return result != CUDA_SUCCESS ? result : add(context, out, findGraph(graph), after, nullptr, count, std::move(work));
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *parameters) {
  TENON_ENTER();
  GraphNode *node = nullptr;
  KernelWork *work = workOf<KernelWork>(handle, &node);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  // The pointers live as long as the node keeps its parameters.
  node->parameterPointers.clear();
  for (const auto &parameter : work->kernel->decoded->parameters)
    node->parameterPointers.push_back(work->parameters.data() + parameter.offset);
  *parameters = {};
  parameters->func = reinterpret_cast<CUfunction>(work->kernel);
  parameters->kern = work->kernel->module->isLibrary ? reinterpret_cast<CUkernel>(work->kernel) : nullptr;
  parameters->ctx = reinterpret_cast<CUcontext>(node->context);
  parameters->gridDimX = work->grid.x;
  parameters->gridDimY = work->grid.y;
  parameters->gridDimZ = work->grid.z;
  parameters->blockDimX = work->block.x;
  parameters->blockDimY = work->block.y;
  parameters->blockDimZ = work->block.z;
  parameters->sharedMemBytes = work->sharedBytes;
  parameters->kernelParams = node->parameterPointers.data();
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  KernelWork *work = workOf<KernelWork>(handle);
  if (!work)
    return CUDA_ERROR_INVALID_VALUE;
  KernelWork changed = *work;
  CUresult result = kernelWorkFrom(parameters, changed);
  if (result == CUDA_SUCCESS)
    *work = std::move(changed);
  return result;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue *value) {
  TENON_ENTER();
  GraphNode *node = nullptr;
  KernelWork *work = workOf<KernelWork>(handle, &node);
  if (!work || !value)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = applyAttribute(*work, attribute, *value);
  if (result == CUDA_SUCCESS)
    node->attributes[attribute] = *value;
  return result;
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value) {
  TENON_ENTER();
  GraphNode *node = nullptr;
  const KernelWork *work = workOf<KernelWork>(handle, &node);
  if (!work || !value)
    return CUDA_ERROR_INVALID_VALUE;
  *value = {};
  if (auto it = node->attributes.find(attribute); it != node->attributes.end())
    *value = it->second;
  switch (attribute) {
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    value->cooperative = work->cooperative;
    break;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    if (work->clusterSet)
      value->clusterDim = {work->cluster.x, work->cluster.y, work->cluster.z};
    break;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    value->priority = work->priority;
    break;
  default:
    break;
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  TENON_ENTER();
  GraphNode *target = nullptr, *source = nullptr;
  KernelWork *into = workOf<KernelWork>(to, &target);
  const KernelWork *what = workOf<KernelWork>(from, &source);
  if (!into || !what)
    return CUDA_ERROR_INVALID_VALUE;
  KernelWork changed = *into;
  changed.cooperative = what->cooperative;
  changed.clusterSet = what->clusterSet;
  changed.cluster = what->cluster;
  changed.priority = what->priority;
  if (CUresult result = validateKernelWork(changed); result != CUDA_SUCCESS)
    return result;
  *into = std::move(changed);
  target->attributes = source->attributes;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMCPY3D *parameters, CUcontext on) {
  TENON_ENTER_CONTEXT();
  if (on && !findContext(on))
    return CUDA_ERROR_INVALID_CONTEXT;
  CopyWork work;
  CUresult result = copyWorkFrom(driver, parameters, work);
  return result != CUDA_SUCCESS
             ? result
             : add(on ? findContext(on) : context, out, findGraph(graph), after, nullptr, count, std::move(work));
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *parameters) {
  TENON_ENTER();
  const CopyWork *work = workOf<CopyWork>(handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *parameters = work->copy;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *parameters) {
  TENON_ENTER();
  CopyWork *work = workOf<CopyWork>(handle);
  return work ? copyWorkFrom(driver, parameters, *work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext on) {
  TENON_ENTER_CONTEXT();
  if (on && !findContext(on))
    return CUDA_ERROR_INVALID_CONTEXT;
  FillWork work;
  CUresult result = fillWorkFrom(driver, parameters, work);
  return result != CUDA_SUCCESS
             ? result
             : add(on ? findContext(on) : context, out, findGraph(graph), after, nullptr, count, work);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *parameters) {
  TENON_ENTER();
  const FillWork *work = workOf<FillWork>(handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *parameters = work->fill;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *parameters) {
  TENON_ENTER();
  FillWork *work = workOf<FillWork>(handle);
  return work ? fillWorkFrom(driver, parameters, *work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  HostWork work;
  CUresult result = hostWorkFrom(parameters, work);
  return result != CUDA_SUCCESS ? result : add(context, out, findGraph(graph), after, nullptr, count, work);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *parameters) {
  TENON_ENTER();
  const HostWork *work = workOf<HostWork>(handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *parameters = {work->function, work->data};
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *parameters) {
  TENON_ENTER();
  HostWork *work = workOf<HostWork>(handle);
  return work ? hostWorkFrom(parameters, *work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count) {
  TENON_ENTER_CONTEXT();
  return add(context, out, findGraph(graph), after, nullptr, count, EmptyWork{});
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                                  CUgraph child) {
  TENON_ENTER_CONTEXT();
  CUgraphNodeParams parameters = {};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = child;
  if (!out || !findGraph(graph))
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  Context *on = nullptr;
  CUresult result = workFrom(driver, context, parameters, work, &on);
  return result != CUDA_SUCCESS ? result : add(on, out, findGraph(graph), after, nullptr, count, std::move(work));
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out) {
  TENON_ENTER();
  const ChildGraphWork *work = workOf<ChildGraphWork>(handle);
  if (!work || !out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUgraph>(work->graph.get());
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                                   CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = findEvent(handle);
  return event ? add(event->context, out, findGraph(graph), after, nullptr, count, EventRecordWork{event})
               : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *out) {
  TENON_ENTER();
  const EventRecordWork *work = workOf<EventRecordWork>(handle);
  if (!work || !out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUevent>(work->event);
  return CUDA_SUCCESS;
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
  TENON_ENTER();
  EventRecordWork *work = workOf<EventRecordWork>(handle);
  if (!work || !findEvent(event))
    return CUDA_ERROR_INVALID_VALUE;
  work->event = findEvent(event);
  return CUDA_SUCCESS;
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                                 CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = findEvent(handle);
  return event ? add(event->context, out, findGraph(graph), after, nullptr, count, EventWaitWork{event})
               : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *out) {
  TENON_ENTER();
  const EventWaitWork *work = workOf<EventWaitWork>(handle);
  if (!work || !out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUevent>(work->event);
  return CUDA_SUCCESS;
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
  TENON_ENTER();
  EventWaitWork *work = workOf<EventWaitWork>(handle);
  if (!work || !findEvent(event))
    return CUDA_ERROR_INVALID_VALUE;
  work->event = findEvent(event);
  return CUDA_SUCCESS;
}

// Memory of a graph: its address is known when the node is added, and valid between the allocation and the free.
CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph handle, const CUgraphNode *after, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  Graph *graph = findGraph(handle);
  if (!out || !graph || !parameters || !parameters->bytesize ||
      parameters->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      parameters->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return CUDA_ERROR_INVALID_VALUE;
  const CUmemLocation &location = parameters->poolProps.location;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (location.id < 0 || static_cast<size_t>(location.id) >= driver.devices.size())
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphEdge> edges;
  if (CUresult result = edgesFrom(*graph, after, nullptr, count, edges); result != CUDA_SUCCESS)
    return result;
  MemoryAllocWork work;
  if (CUresult result = reserveAllocation(*driver.devices[static_cast<size_t>(location.id)], *parameters, work);
      result != CUDA_SUCCESS)
    return result;
  return add(context, out, graph, after, nullptr, count, work);
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  TENON_ENTER();
  const MemoryAllocWork *work = workOf<MemoryAllocWork>(handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *parameters = work->parameters;
  return CUDA_SUCCESS;
}
CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                               CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  CUgraphNodeParams parameters = {};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  parameters.free.dptr = address;
  Work work;
  Context *on = nullptr;
  CUresult result = workFrom(driver, context, parameters, work, &on);
  return result != CUDA_SUCCESS ? result : add(on, out, findGraph(graph), after, nullptr, count, std::move(work));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address) {
  TENON_ENTER();
  const MemoryFreeWork *work = workOf<MemoryFreeWork>(handle);
  if (!work || !address)
    return CUDA_ERROR_INVALID_VALUE;
  *address = work->address;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
  TENON_ENTER_CONTEXT();
  if (!parameters || (parameters->ctx && !findContext(parameters->ctx)))
    return CUDA_ERROR_INVALID_VALUE;
  MemoryOpsWork work;
  CUresult result = makeMemoryOpsWork(driver, parameters->paramArray, parameters->count, parameters->flags, work);
  return result != CUDA_SUCCESS ? result
                                : add(parameters->ctx ? findContext(parameters->ctx) : context, out, findGraph(graph),
                                      after, nullptr, count, std::move(work));
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
  TENON_ENTER();
  GraphNode *node = nullptr;
  MemoryOpsWork *work = workOf<MemoryOpsWork>(handle, &node);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *parameters = {reinterpret_cast<CUcontext>(node->context), static_cast<unsigned>(work->operations.size()),
                 work->operations.data(), work->flags};
  return CUDA_SUCCESS;
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle, const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters) {
  TENON_ENTER();
  MemoryOpsWork *work = workOf<MemoryOpsWork>(handle);
  if (!work || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  return makeMemoryOpsWork(driver, parameters->paramArray, parameters->count, parameters->flags, *work);
}

// The general forms, over all kinds.
CUresult cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *data,
                        size_t count, CUgraphNodeParams *parameters) {
  TENON_ENTER_CONTEXT();
  if (!out || !parameters || !findGraph(graph))
    return CUDA_ERROR_INVALID_VALUE;
  if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    CUDA_MEM_ALLOC_NODE_PARAMS allocation;
    static_assert(sizeof allocation == sizeof parameters->alloc);
    memcpy(&allocation, &parameters->alloc, sizeof allocation);
    CUresult result = data ? CUDA_ERROR_NOT_SUPPORTED : cuGraphAddMemAllocNode(out, graph, after, count, &allocation);
    parameters->alloc.dptr = allocation.dptr;
    return result;
  }
  Work work;
  Context *on = nullptr;
  CUresult result = workFrom(driver, context, *parameters, work, &on);
  if (result == CUDA_SUCCESS)
    result = add(on, out, findGraph(graph), after, data, count, std::move(work));
  if (result == CUDA_SUCCESS && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphChildGraphNodeGetGraph(*out, &parameters->graph.graph);
  return result;
}
CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *parameters) {
  TENON_ENTER_CONTEXT();
  GraphNode *node = findNode(handle);
  if (!node || !parameters || nodeType(node->work) != parameters->type)
    return CUDA_ERROR_INVALID_VALUE;
  if (parameters->type == CU_GRAPH_NODE_TYPE_KERNEL) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    memcpy(&kernel, &parameters->kernel, sizeof kernel);
    return cuGraphKernelNodeSetParams(handle, &kernel);
  }
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH || parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
      parameters->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CUDA_ERROR_NOT_SUPPORTED;
  Context *on = nullptr;
  Work work;
  CUresult result = workFrom(driver, context, *parameters, work, &on);
  if (result == CUDA_SUCCESS)
    node->work = std::move(work);
  return result;
}
