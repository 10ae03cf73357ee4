// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of graph nodes, made from the structures that the driver API has for it. What a structure says is checked and
// copied here, for every function that takes it: adding a node, setting its parameters, in a graph and in an
// executable.
#include "emulator/driver/graph/graph_work.h"

#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/graph/graph.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/kernel_work.h"
#include "emulator/driver/work/memory_ops.h"
#include "emulator/driver/work/transfer.h"

#include <cstring>

namespace tenon::emulator {

CUresult kernelWorkFrom(const CUDA_KERNEL_NODE_PARAMS *p, KernelWork &out) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  Kernel *kernel = p->func ? findKernel(p->func) : findKernel(p->kern);
  if (!kernel)
    return CUDA_ERROR_INVALID_VALUE;
  bool cooperative = out.cooperative; // attributes of a node outlive its parameters
  Dim3 cluster = out.cluster;
  int priority = out.priority;
  CUresult result = makeKernelWork(kernel, {p->gridDimX, p->gridDimY, p->gridDimZ},
                                   {p->blockDimX, p->blockDimY, p->blockDimZ}, out.clusterSet ? &cluster : nullptr,
                                   p->sharedMemBytes, cooperative, p->kernelParams, p->extra, out);
  out.priority = priority;
  return result;
}

CUresult copyWorkFrom(Driver &driver, const CUDA_MEMCPY3D *parameters, CopyWork &out) {
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = validateCopy(driver, *parameters); result != CUDA_SUCCESS)
    return result;
  out.copy = *parameters;
  out.staged = nullptr;
  return CUDA_SUCCESS;
}

CUresult fillWorkFrom(Driver &driver, const CUDA_MEMSET_NODE_PARAMS *parameters, FillWork &out) {
  if (!parameters || !parameters->width || !parameters->height)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = validateFill(driver, *parameters); result != CUDA_SUCCESS)
    return result;
  out.fill = *parameters;
  return CUDA_SUCCESS;
}

CUresult hostWorkFrom(const CUDA_HOST_NODE_PARAMS *parameters, HostWork &out) {
  if (!parameters || !parameters->fn)
    return CUDA_ERROR_INVALID_VALUE;
  out = HostWork{parameters->fn, nullptr, nullptr, parameters->userData};
  return CUDA_SUCCESS;
}

CUresult workFrom(Driver &driver, Context *current, const CUgraphNodeParams &p, Work &out, Context **context) {
  auto keep = [&](CUcontext wanted) {
    if (wanted && !findContext(wanted))
      return CUDA_ERROR_INVALID_CONTEXT;
    *context = wanted ? findContext(wanted) : current;
    return CUDA_SUCCESS;
  };
  auto made = [&](auto &work, CUresult result) {
    if (result == CUDA_SUCCESS)
      out = std::move(work);
    return result;
  };
  *context = current;
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    CUDA_KERNEL_NODE_PARAMS kernel;
    static_assert(sizeof kernel == sizeof p.kernel);
    memcpy(&kernel, &p.kernel, sizeof kernel);
    KernelWork work;
    CUresult result = kernelWorkFrom(&kernel, work);
    if (result == CUDA_SUCCESS)
      *context = work.kernel->module->context;
    return made(work, result);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY: {
    if (p.memcpy.flags || p.memcpy.reserved)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = keep(p.memcpy.copyCtx); result != CUDA_SUCCESS)
      return result;
    CopyWork work;
    return made(work, copyWorkFrom(driver, &p.memcpy.copyParams, work));
  }
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    if (CUresult result = keep(p.memset.ctx); result != CUDA_SUCCESS)
      return result;
    CUDA_MEMSET_NODE_PARAMS fill{p.memset.dst,         p.memset.pitch, p.memset.value,
                                 p.memset.elementSize, p.memset.width, p.memset.height};
    FillWork work;
    return made(work, fillWorkFrom(driver, &fill, work));
  }
  case CU_GRAPH_NODE_TYPE_HOST: {
    CUDA_HOST_NODE_PARAMS host{p.host.fn, p.host.userData};
    HostWork work;
    return made(work, hostWorkFrom(&host, work));
  }
  case CU_GRAPH_NODE_TYPE_EMPTY:
    out = EmptyWork{};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    out = EventRecordWork{findEvent(p.eventRecord.event)};
    return std::get<EventRecordWork>(out).event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    out = EventWaitWork{findEvent(p.eventWait.event)};
    return std::get<EventWaitWork>(out).event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  case CU_GRAPH_NODE_TYPE_GRAPH: {
    Graph *child = findGraph(p.graph.graph);
    if (!child)
      return CUDA_ERROR_INVALID_VALUE;
    if (hasMemoryNodes(*child))
      return CUDA_ERROR_NOT_SUPPORTED; // moving the ownership of memory nodes is not covered
    std::shared_ptr<Graph> clone = cloneGraph(*child, true);
    clone->isEmbedded = true;
    out = ChildGraphWork{clone};
    return CUDA_SUCCESS;
  }
  case CU_GRAPH_NODE_TYPE_MEM_FREE: {
    Device *device = deviceOf(driver, p.free.dptr);
    if (!device || (!device->memory->reserved(p.free.dptr, 1) && !device->memory->find(p.free.dptr)))
      return CUDA_ERROR_INVALID_VALUE;
    out = MemoryFreeWork{p.free.dptr};
    return CUDA_SUCCESS;
  }
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
    if (CUresult result = keep(p.memOp.ctx); result != CUDA_SUCCESS)
      return result;
    MemoryOpsWork work;
    return made(work, makeMemoryOpsWork(driver, p.memOp.paramArray, p.memOp.count, p.memOp.flags, work));
  }
  default: // semaphores of other APIs, conditional nodes
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult applyAttribute(KernelWork &work, CUkernelNodeAttrID attribute, const CUlaunchAttributeValue &value) {
  KernelWork changed = work;
  switch (attribute) {
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    changed.cooperative = value.cooperative != 0;
    break;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    changed.clusterSet = true;
    changed.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    break;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    changed.priority = value.priority;
    break;
  // Hints: only answered.
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    break;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (CUresult result = validateKernelWork(changed); result != CUDA_SUCCESS)
    return result;
  work = std::move(changed);
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator
