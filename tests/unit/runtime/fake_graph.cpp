// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of the fake driver. A launch runs the nodes in the most unexpected order that their edges allow: of those that
// may run, the one that was added last. What needs an edge and lacks it comes out wrong.
#include "tests/unit/runtime/fake_driver_calls.h"

#include <algorithm>
#include <cstring>

using namespace tenon::test;

namespace {

struct Node {
  enum Kind { Kernel, Copy, Fill, Join } kind = Join;
  std::vector<size_t> dependsOn;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  std::vector<std::vector<uint8_t>> parameters; // of the kernel, copied as the driver copies them
  CUDA_MEMCPY3D copy = {};
  CUDA_MEMSET_NODE_PARAMS fill = {};
};
struct Graph {
  std::vector<Node> nodes;
};

/// Handles are indices plus one.
size_t indexOf(CUgraphNode node) {
  return reinterpret_cast<uintptr_t>(node) - 1;
}

CUresult add(CUgraphNode *out, CUgraph handle, const CUgraphNode *before, size_t count, Node node) {
  auto &nodes = reinterpret_cast<Graph *>(handle)->nodes;
  for (size_t i = 0; i < count; ++i)
    node.dependsOn.push_back(indexOf(before[i]));
  nodes.push_back(std::move(node));
  *out = reinterpret_cast<CUgraphNode>(nodes.size());
  ++fake().graphNodes;
  fake().graphEdges += count;
  return CUDA_SUCCESS;
}

/// The driver knows a kernel's parameters from its image, the fake from the test.
CUresult setKernel(Node &node, const CUDA_KERNEL_NODE_PARAMS &given) {
  auto known = fake().parameters.find(kernelName(given.func));
  if (known == fake().parameters.end() || given.gridDimX * given.gridDimY * given.gridDimZ == 0)
    return CUDA_ERROR_INVALID_VALUE;
  node.kind = Node::Kernel;
  node.kernel = given;
  node.parameters.clear();
  for (size_t i = 0; i < known->second.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(given.kernelParams[i]);
    node.parameters.emplace_back(bytes, bytes + known->second[i].second);
  }
  return CUDA_SUCCESS;
}
CUresult setCopy(Node &node, const CUDA_MEMCPY3D &given) {
  if (given.WidthInBytes == 0 || given.Height != 1 || given.Depth != 1 ||
      given.srcMemoryType != CU_MEMORYTYPE_UNIFIED || given.dstMemoryType != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  node.kind = Node::Copy;
  node.copy = given;
  return CUDA_SUCCESS;
}
CUresult setFill(Node &node, const CUDA_MEMSET_NODE_PARAMS &given) {
  if (given.width == 0 || given.height != 1)
    return CUDA_ERROR_INVALID_VALUE;
  node.kind = Node::Fill;
  node.fill = given;
  return CUDA_SUCCESS;
}

void run(Node &node) {
  switch (node.kind) {
  case Node::Kernel: {
    std::vector<void *> pointers;
    for (auto &bytes : node.parameters)
      pointers.push_back(bytes.data());
    const CUDA_KERNEL_NODE_PARAMS &kernel = node.kernel;
    (void)launch({.grid = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                  .block = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
                  .sharedBytes = kernel.sharedMemBytes},
                 kernel.func, pointers.data());
    break;
  }
  case Node::Copy:
    std::memcpy(reinterpret_cast<void *>(node.copy.dstDevice), reinterpret_cast<void *>(node.copy.srcDevice),
                node.copy.WidthInBytes);
    break;
  case Node::Fill:
    for (size_t i = 0; i < node.fill.width; ++i)
      std::memcpy(reinterpret_cast<char *>(node.fill.dst) + i * node.fill.elementSize, &node.fill.value,
                  node.fill.elementSize);
    break;
  case Node::Join:
    break;
  }
}

Node &nodeOf(CUgraphExec exec, CUgraphNode node) {
  return reinterpret_cast<Graph *>(exec)->nodes[indexOf(node)];
}

} // namespace

FAKE CUresult cuGraphCreate(CUgraph *graph, unsigned) {
  ENTER();
  ++fake().liveGraphs;
  *graph = reinterpret_cast<CUgraph>(new Graph());
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphDestroy(CUgraph graph) {
  GiveBack back(graph);
  ENTER();
  back.done();
  --fake().liveGraphs;
  delete reinterpret_cast<Graph *>(graph);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS *given) {
  ENTER();
  Node node;
  if (CUresult result = setKernel(node, *given); result != CUDA_SUCCESS)
    return result;
  return add(out, graph, before, count, std::move(node));
}
FAKE CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                                   const CUDA_MEMCPY3D *given, CUcontext) {
  ENTER();
  Node node;
  if (CUresult result = setCopy(node, *given); result != CUDA_SUCCESS)
    return result;
  return add(out, graph, before, count, std::move(node));
}
FAKE CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                                   const CUDA_MEMSET_NODE_PARAMS *given, CUcontext) {
  ENTER();
  Node node;
  if (CUresult result = setFill(node, *given); result != CUDA_SUCCESS)
    return result;
  return add(out, graph, before, count, std::move(node));
}
FAKE CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count) {
  ENTER();
  return add(out, graph, before, count, Node());
}
FAKE CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  ENTER();
  ++fake().liveGraphs;
  *exec = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<Graph *>(graph)));
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphExecDestroy(CUgraphExec exec) {
  GiveBack back(exec);
  ENTER();
  back.done();
  --fake().liveGraphs;
  delete reinterpret_cast<Graph *>(exec);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS *given) {
  ENTER();
  return setKernel(nodeOf(exec, node), *given);
}
FAKE CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *given,
                                             CUcontext) {
  ENTER();
  return setCopy(nodeOf(exec, node), *given);
}
FAKE CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *given,
                                             CUcontext) {
  ENTER();
  return setFill(nodeOf(exec, node), *given);
}
FAKE CUresult cuGraphLaunch(CUgraphExec exec, CUstream) {
  ENTER();
  auto &nodes = reinterpret_cast<Graph *>(exec)->nodes;
  std::vector<bool> done(nodes.size());
  for (size_t ran = 0; ran < nodes.size(); ++ran)
    for (size_t i = nodes.size(); i-- > 0;) {
      const std::vector<size_t> &before = nodes[i].dependsOn;
      if (done[i] || !std::all_of(before.begin(), before.end(), [&](size_t j) { return done[j]; }))
        continue;
      run(nodes[i]);
      done[i] = true;
      break;
    }
  return CUDA_SUCCESS;
}
