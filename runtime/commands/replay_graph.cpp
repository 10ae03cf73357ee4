// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each kind of command as the driver's node parameters, once to add it and once to change it.
#include "runtime/commands/replay_graph.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"

namespace tenon::runtime {

namespace {

CUDA_KERNEL_NODE_PARAMS kernelParameters(const ReplayGraph::Kernel &kernel) {
  CUDA_KERNEL_NODE_PARAMS out = {};
  out.func = kernel.function;
  out.gridDimX = kernel.grid[0], out.gridDimY = kernel.grid[1], out.gridDimZ = kernel.grid[2];
  const abi::Extent3 &block = kernel.launch->workgroupSize;
  out.blockDimX = block[0], out.blockDimY = block[1], out.blockDimZ = block[2];
  out.sharedMemBytes = kernel.launch->dynamicSharedBytes;
  out.kernelParams = kernel.parameters;
  return out;
}

CUDA_MEMSET_NODE_PARAMS fillParameters(DeviceRange target, uint32_t pattern, uint32_t patternBytes) {
  CUDA_MEMSET_NODE_PARAMS out = {};
  out.dst = target.address;
  out.value = patternBytes == 1 ? pattern & 0xff : patternBytes == 2 ? pattern & 0xffff : pattern;
  out.elementSize = patternBytes;
  out.width = target.bytes / patternBytes;
  out.height = 1;
  return out;
}

/// One row of bytes. Unified: the driver knows by the address whether it is pinned host memory.
CUDA_MEMCPY3D copyParameters(DeviceRange source, DeviceRange target) {
  CUDA_MEMCPY3D out = {};
  out.srcMemoryType = out.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  out.srcDevice = source.address;
  out.dstDevice = target.address;
  out.WidthInBytes = target.bytes;
  out.Height = out.Depth = 1;
  return out;
}

} // namespace

bool ReplayGraph::isSupported(const cuda::Driver &driver) {
  return driver.cuGraphCreate && driver.cuGraphDestroy && driver.cuGraphAddKernelNode_v2 &&
         driver.cuGraphAddMemcpyNode && driver.cuGraphAddMemsetNode && driver.cuGraphAddEmptyNode &&
         driver.cuGraphInstantiateWithFlags && driver.cuGraphExecKernelNodeSetParams_v2 &&
         driver.cuGraphExecMemcpyNodeSetParams && driver.cuGraphExecMemsetNodeSetParams && driver.cuGraphExecDestroy &&
         driver.cuGraphLaunch;
}

ReplayGraph::ReplayGraph(Device &device) : device_(device), driver_(device.driver()) {}

ReplayGraph::~ReplayGraph() {
  if (!graph_ && !instance_)
    return;
  ReleaseScope scope = device_.enterToRelease();
  if (instance_)
    (void)driver_.cuGraphExecDestroy(instance_);
  if (graph_)
    (void)driver_.cuGraphDestroy(graph_);
}

Status ReplayGraph::ensureGraph() {
  if (graph_)
    return okStatus();
  return cuda::driverStatus(driver_, driver_.cuGraphCreate(&graph_, 0), "cuGraphCreate");
}

std::span<const CUgraphNode> ReplayGraph::handles(std::span<const Node> nodes) {
  scratch_.clear();
  for (Node node : nodes)
    scratch_.push_back(nodes_[node]);
  return scratch_;
}

Result<ReplayGraph::Node> ReplayGraph::keep(CUresult result, CUgraphNode node, const char *call) {
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver_, result, call));
  nodes_.push_back(node);
  return static_cast<Node>(nodes_.size() - 1);
}

/// Programmatic dependent launch is an attribute of an edge here, and a full dependency is always right.
Status ReplayGraph::setLaunchAttributes(CUgraphNode node, const abi::Launch &launch) const {
  const bool hasCluster = launch.cluster != abi::Extent3{0, 0, 0};
  if (!hasCluster && !launch.cooperative)
    return okStatus();
  if (!driver_.cuGraphKernelNodeSetAttribute)
    return makeError(StatusCode::Unimplemented, "the driver '", driver_.path(),
                     "' has no cuGraphKernelNodeSetAttribute, which clusters and cooperative launches need");
  CUkernelNodeAttrValue value = {};
  if (hasCluster) {
    value.clusterDim.x = launch.cluster[0];
    value.clusterDim.y = launch.cluster[1];
    value.clusterDim.z = launch.cluster[2];
    TENON_RETURN_IF_ERROR(cuda::driverStatus(
        driver_, driver_.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
        "cuGraphKernelNodeSetAttribute(CLUSTER_DIMENSION)"));
  }
  if (!launch.cooperative)
    return okStatus();
  value = {};
  value.cooperative = 1;
  return cuda::driverStatus(driver_,
                            driver_.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
                            "cuGraphKernelNodeSetAttribute(COOPERATIVE)");
}

Result<ReplayGraph::Node> ReplayGraph::addKernel(std::span<const Node> dependsOn, const Kernel &kernel) {
  TENON_RETURN_IF_ERROR(ensureGraph());
  const CUDA_KERNEL_NODE_PARAMS parameters = kernelParameters(kernel);
  const std::span<const CUgraphNode> before = handles(dependsOn);
  CUgraphNode node = nullptr;
  const CUresult result = driver_.cuGraphAddKernelNode_v2(&node, graph_, before.data(), before.size(), &parameters);
  TENON_ASSIGN_OR_RETURN(const Node added, keep(result, node, "cuGraphAddKernelNode_v2"));
  TENON_RETURN_IF_ERROR(setLaunchAttributes(node, *kernel.launch));
  return added;
}

Result<ReplayGraph::Node> ReplayGraph::addFill(std::span<const Node> dependsOn, DeviceRange target, uint32_t pattern,
                                               uint32_t patternBytes) {
  TENON_RETURN_IF_ERROR(checkFill(target, patternBytes));
  TENON_RETURN_IF_ERROR(ensureGraph());
  const CUDA_MEMSET_NODE_PARAMS parameters = fillParameters(target, pattern, patternBytes);
  const std::span<const CUgraphNode> before = handles(dependsOn);
  CUgraphNode node = nullptr;
  const CUresult result = driver_.cuGraphAddMemsetNode(&node, graph_, before.data(), before.size(), &parameters,
                                                       device_.context().handle());
  return keep(result, node, "cuGraphAddMemsetNode");
}

Result<ReplayGraph::Node> ReplayGraph::addCopy(std::span<const Node> dependsOn, DeviceRange source,
                                               DeviceRange target) {
  TENON_RETURN_IF_ERROR(checkCopy(source, target));
  TENON_RETURN_IF_ERROR(ensureGraph());
  const CUDA_MEMCPY3D parameters = copyParameters(source, target);
  const std::span<const CUgraphNode> before = handles(dependsOn);
  CUgraphNode node = nullptr;
  const CUresult result = driver_.cuGraphAddMemcpyNode(&node, graph_, before.data(), before.size(), &parameters,
                                                       device_.context().handle());
  return keep(result, node, "cuGraphAddMemcpyNode");
}

Result<ReplayGraph::Node> ReplayGraph::addJoin(std::span<const Node> dependsOn) {
  TENON_RETURN_IF_ERROR(ensureGraph());
  const std::span<const CUgraphNode> before = handles(dependsOn);
  CUgraphNode node = nullptr;
  const CUresult result = driver_.cuGraphAddEmptyNode(&node, graph_, before.data(), before.size());
  return keep(result, node, "cuGraphAddEmptyNode");
}

Status ReplayGraph::instantiate() {
  TENON_RETURN_IF_ERROR(ensureGraph());
  device_.countGraph();
  return cuda::driverStatus(driver_, driver_.cuGraphInstantiateWithFlags(&instance_, graph_, 0),
                            concat("cuGraphInstantiateWithFlags of ", nodes_.size(), " nodes"));
}

Status ReplayGraph::setKernel(Node node, const Kernel &kernel) {
  device_.countPatch();
  const CUDA_KERNEL_NODE_PARAMS parameters = kernelParameters(kernel);
  return cuda::driverStatus(driver_, driver_.cuGraphExecKernelNodeSetParams_v2(instance_, nodes_[node], &parameters),
                            "cuGraphExecKernelNodeSetParams_v2");
}

Status ReplayGraph::setFill(Node node, DeviceRange target, uint32_t pattern, uint32_t patternBytes) {
  device_.countPatch();
  TENON_RETURN_IF_ERROR(checkFill(target, patternBytes));
  const CUDA_MEMSET_NODE_PARAMS parameters = fillParameters(target, pattern, patternBytes);
  return cuda::driverStatus(
      driver_, driver_.cuGraphExecMemsetNodeSetParams(instance_, nodes_[node], &parameters, device_.context().handle()),
      "cuGraphExecMemsetNodeSetParams");
}

Status ReplayGraph::setCopy(Node node, DeviceRange source, DeviceRange target) {
  device_.countPatch();
  TENON_RETURN_IF_ERROR(checkCopy(source, target));
  const CUDA_MEMCPY3D parameters = copyParameters(source, target);
  return cuda::driverStatus(
      driver_, driver_.cuGraphExecMemcpyNodeSetParams(instance_, nodes_[node], &parameters, device_.context().handle()),
      "cuGraphExecMemcpyNodeSetParams");
}

Status ReplayGraph::launch(CUstream stream) {
  return cuda::driverStatus(driver_, driver_.cuGraphLaunch(instance_, stream), "cuGraphLaunch");
}

} // namespace tenon::runtime
