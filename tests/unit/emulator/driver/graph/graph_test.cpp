// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs through the driver API: what a graph keeps, the order in which it runs, and the codes for misuse.
#include "tests/unit/emulator/graph_testing.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace tenon::emulator::test {
namespace {

TEST_F(GraphTest, RunsNodesInTopologicalOrder) {
  CUgraphNode last = addKernel(3), middle = addKernel(2), first = addKernel(1);
  CUgraphNode from[] = {first, middle}, to[] = {middle, last};
  ASSERT_EQ(cuGraphAddDependencies(graph, from, to, nullptr, 2), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  EXPECT_EQ(launch(exec), 123u);
  EXPECT_EQ(launch(exec), 123u);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, EdgesAreChecked) {
  CUgraphNode a = addKernel(1), b = addKernel(2, {a}), nodes[4];
  EXPECT_EQ(cuGraphAddDependencies(graph, &a, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "twice";
  EXPECT_EQ(cuGraphAddDependencies(graph, &a, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "itself";
  EXPECT_EQ(cuGraphRemoveDependencies(graph, &b, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "not there";
  CUgraph other;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  CUgraphNode foreign;
  EXPECT_EQ(cuGraphAddEmptyNode(&foreign, other, &a, 1), CUDA_ERROR_INVALID_VALUE) << "of another graph";
  CUgraphNode twice[] = {a, a};
  EXPECT_EQ(cuGraphAddEmptyNode(&foreign, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);

  size_t count = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  count = 4;
  ASSERT_EQ(cuGraphGetNodes(graph, nodes, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(nodes[0], a);
  EXPECT_EQ(nodes[3], nullptr);
  count = 4;
  ASSERT_EQ(cuGraphGetRootNodes(graph, nodes, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  CUgraphNode from[2], to[2];
  count = 2;
  ASSERT_EQ(cuGraphGetEdges(graph, from, to, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from[0], a);
  EXPECT_EQ(to[0], b);
  count = 1;
  ASSERT_EQ(cuGraphNodeGetDependencies(b, nodes, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], a);
  count = 1;
  ASSERT_EQ(cuGraphNodeGetDependentNodes(a, nodes, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], b);
  ASSERT_EQ(cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);
  ASSERT_EQ(cuGraphDestroyNode(b), CUDA_SUCCESS);
  CUgraphNodeType type;
  EXPECT_EQ(cuGraphNodeGetType(b, &type), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, EdgesWithDataAreNotLost) {
  CUgraphNode a = addKernel(1), b = addKernel(2), from[1], to[1];
  CUgraphEdgeData data = {};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  ASSERT_EQ(cuGraphAddDependencies(graph, &a, &b, &data, 1), CUDA_SUCCESS);
  size_t count = 1;
  EXPECT_EQ(cuGraphGetEdges(graph, from, to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  CUgraphEdgeData read = {};
  ASSERT_EQ(cuGraphGetEdges(graph, from, to, &read, &count), CUDA_SUCCESS);
  EXPECT_EQ(read.from_port, data.from_port);
}

TEST_F(GraphTest, CopiesFillsAndHostFunctions) {
  DeviceArray<uint32_t> copy(4);
  static int called;
  called = 0;
  CUDA_MEMSET_NODE_PARAMS fill = {array.address, 0, 5, 4, 4, 1};
  CUDA_MEMCPY3D move = {};
  move.srcMemoryType = move.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  move.srcDevice = array.address;
  move.dstDevice = copy.address;
  move.WidthInBytes = 16;
  move.Height = move.Depth = 1;
  CUDA_HOST_NODE_PARAMS host = {[](void *data) { ++*static_cast<int *>(data); }, &called};
  CUgraphNode first, second, third;
  ASSERT_EQ(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, session.context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&second, graph, &first, 1, &move, session.context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddHostNode(&third, graph, &second, 1, &host), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  launch(exec);
  EXPECT_EQ(copy.read()[3], 5u);
  EXPECT_EQ(called, 1);
  fill.value = 6;
  ASSERT_EQ(cuGraphExecMemsetNodeSetParams(exec, first, &fill, session.context), CUDA_SUCCESS);
  move.WidthInBytes = 8;
  ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(exec, second, &move, session.context), CUDA_SUCCESS);
  launch(exec);
  EXPECT_EQ(copy.read()[1], 6u);
  EXPECT_EQ(copy.read()[2], 5u);
  // Operands keep their kind, and fills of rows stay what they are.
  uint32_t onHost[4];
  move.dstMemoryType = CU_MEMORYTYPE_HOST;
  move.dstHost = onHost;
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(exec, second, &move, session.context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(exec, first, &move, session.context), CUDA_ERROR_INVALID_VALUE);
  fill.width = 5;
  EXPECT_EQ(cuGraphMemsetNodeSetParams(first, &fill), CUDA_ERROR_INVALID_VALUE) << "out of bounds";
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, ChildGraphsAreCopies) {
  addKernel(1);
  CUgraph outer;
  ASSERT_EQ(cuGraphCreate(&outer, 0), CUDA_SUCCESS);
  CUgraphNode first, second;
  ASSERT_EQ(cuGraphAddChildGraphNode(&first, outer, nullptr, 0, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&second, outer, &first, 1, graph), CUDA_SUCCESS);
  addKernel(9); // too late for the children
  CUgraph inside;
  ASSERT_EQ(cuGraphChildGraphNodeGetGraph(second, &inside), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE) << "the node owns it";
  CUgraphNode innerNode;
  size_t count = 1;
  ASSERT_EQ(cuGraphGetNodes(inside, &innerNode, &count), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS p = kernel(2);
  ASSERT_EQ(cuGraphKernelNodeSetParams(innerNode, &p), CUDA_SUCCESS);
  CUgraphExec exec;
  ASSERT_EQ(cuGraphInstantiate(&exec, outer, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 12u);
  p = kernel(3);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(exec, innerNode, &p), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 13u);
  EXPECT_EQ(cuGraphExecChildGraphNodeSetParams(exec, first, graph), CUDA_ERROR_INVALID_VALUE) << "two nodes now";
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
}

TEST_F(GraphTest, ClonesFindTheirNodes) {
  CUgraphNode a = addKernel(1), found;
  CUgraph clone;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphNodeFindInClone(&found, a, clone), CUDA_SUCCESS);
  EXPECT_NE(found, a);
  CUDA_KERNEL_NODE_PARAMS p = kernel(8);
  ASSERT_EQ(cuGraphKernelNodeSetParams(found, &p), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  EXPECT_EQ(launch(exec), 1u);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
}

TEST_F(GraphTest, AttributesOfKernelNodes) {
  CUgraphNode node = addKernel(1), other = addKernel(2);
  CUkernelNodeAttrValue value = {};
  value.priority = -3;
  ASSERT_EQ(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
  value = {};
  value.cooperative = 1;
  ASSERT_EQ(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), CUDA_SUCCESS);
  value = {};
  value.clusterDim = {3, 1, 1};
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ASSERT_EQ(cuGraphKernelNodeCopyAttributes(other, node), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.priority, -3);
  ASSERT_EQ(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.cooperative, 1);
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &value),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(GraphTest, TheGeneralFormTakesEveryKind) {
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  CUDA_KERNEL_NODE_PARAMS k = kernel(1);
  memcpy(&p.kernel, &k, sizeof k);
  CUgraphNode first, second;
  ASSERT_EQ(cuGraphAddNode(&first, graph, nullptr, nullptr, 0, &p), CUDA_SUCCESS);
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEMSET;
  p.memset = {array.address, 0, 7, 4, 1, 1, session.context};
  ASSERT_EQ(cuGraphAddNode(&second, graph, &first, nullptr, 1, &p), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  EXPECT_EQ(launch(exec), 7u);
  p.memset.value = 8;
  ASSERT_EQ(cuGraphExecNodeSetParams(exec, second, &p), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 8u);
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  EXPECT_EQ(cuGraphAddNode(&second, graph, nullptr, nullptr, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, PrintsItselfAsDot) {
  CUgraphNode a = addKernel(1);
  addKernel(2, {a});
  std::string path = ::testing::TempDir() + "tenon_graph_test.dot";
  ASSERT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), 0), CUDA_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("digraph"), std::string::npos);
  EXPECT_NE(text.str().find("kernel 'k'"), std::string::npos);
  EXPECT_NE(text.str().find("->"), std::string::npos);
  remove(path.c_str());
}

TEST_F(GraphTest, RefusesBadHandles) {
  int rubbish[64] = {};
  CUgraphNode node;
  CUDA_KERNEL_NODE_PARAMS p = kernel(1);
  EXPECT_EQ(cuGraphAddKernelNode(&node, reinterpret_cast<CUgraph>(rubbish), nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddKernelNode(nullptr, graph, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 1, &p), CUDA_ERROR_INVALID_VALUE);
  p.blockDimX = 2000;
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(reinterpret_cast<CUgraphExec>(rubbish), stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(reinterpret_cast<CUgraph>(rubbish)), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec;
  EXPECT_EQ(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphInstantiate(&exec, graph, 1 << 20), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace tenon::emulator::test
