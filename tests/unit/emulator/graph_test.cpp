// Graphs through the driver API: what a graph keeps, the order in which it runs, what may be changed after
// instantiation, and the codes for misuse.
#include "tests/unit/emulator/harness.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace tenon::emulator::test {
namespace {

// k(p, v): p[tid] = p[tid] * 10 + v. The digits tell the order in which nodes ran.
const char *kAppend = R"(
.visible .entry k(.param .u64 p, .param .u32 v)
{
  .reg .b64 %rd<4>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3]; mad.lo.u32 %r4, %r3, 10, %r1; st.global.u32 [%rd3], %r4;
  ret;
}
)";

class GraphTest : public ::testing::Test {
protected:
  void SetUp() override {
    Loaded loaded = load(header() + kAppend);
    ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
    ASSERT_EQ(cuModuleGetFunction(&append, loaded.module, "k"), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  CUDA_KERNEL_NODE_PARAMS kernel(unsigned digit, CUdeviceptr address = 0) {
    value_ = digit;
    address_ = address ? address : array.address;
    pointers_[0] = &address_;
    pointers_[1] = &value_;
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = append;
    p.gridDimX = p.gridDimY = p.gridDimZ = 1;
    p.blockDimX = 4;
    p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = pointers_;
    return p;
  }
  CUgraphNode addKernel(unsigned digit, const std::vector<CUgraphNode> &after = {}) {
    CUDA_KERNEL_NODE_PARAMS p = kernel(digit);
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p), CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
  }
  unsigned launch(CUgraphExec exec) {
    EXPECT_EQ(cuMemsetD32(array.address, 0, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    return array.read()[0];
  }

  Session session;
  DeviceArray<uint32_t> array{4};
  CUfunction append = nullptr;
  CUgraph graph = nullptr;
  CUstream stream = nullptr;

private:
  CUdeviceptr address_ = 0;
  unsigned value_ = 0;
  void *pointers_[2] = {};
};

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

TEST_F(GraphTest, CopiesParametersAndIsIndependentOfTheGraph) {
  CUgraphNode node = addKernel(1);
  CUgraphExec exec = instantiate();
  CUDA_KERNEL_NODE_PARAMS changed = kernel(7); // overwrites what the first parameters pointed to
  ASSERT_EQ(cuGraphKernelNodeSetParams(node, &changed), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 1u);
  CUDA_KERNEL_NODE_PARAMS read = {};
  ASSERT_EQ(cuGraphKernelNodeGetParams(node, &read), CUDA_SUCCESS);
  EXPECT_EQ(*static_cast<unsigned *>(read.kernelParams[1]), 7u);
  EXPECT_EQ(read.func, append);
  EXPECT_EQ(read.blockDimX, 4u);
  changed = kernel(5);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(exec, node, &changed), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 5u);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, LaunchesOfOneExecutableAreSerialised) {
  addKernel(1);
  CUgraphExec exec = instantiate();
  CUstream other;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(array.address, 0, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  for (CUstream each : {stream, other, stream})
    ASSERT_EQ(cuGraphLaunch(exec, each), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(array.read()[0], 111u);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, ACycleIsRefusedWhenInstantiated) {
  CUgraphNode a = addKernel(1), b = addKernel(2, {a});
  ASSERT_EQ(cuGraphAddDependencies(graph, &b, &a, nullptr, 1), CUDA_SUCCESS);
  CUgraphExec exec;
  EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
  CUDA_GRAPH_INSTANTIATE_PARAMS p = {};
  EXPECT_EQ(cuGraphInstantiateWithParams(&exec, graph, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(p.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
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

TEST_F(GraphTest, NodesCanBeSwitchedOff) {
  CUgraphNode a = addKernel(1), b = addKernel(2, {a}), empty;
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, &b, 1), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  ASSERT_EQ(cuGraphNodeSetEnabled(exec, a, 0), CUDA_SUCCESS);
  unsigned enabled = 1;
  ASSERT_EQ(cuGraphNodeGetEnabled(exec, a, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(launch(exec), 2u);
  ASSERT_EQ(cuGraphNodeSetEnabled(exec, a, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(exec), 12u);
  EXPECT_EQ(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE);
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

TEST_F(GraphTest, UpdatesWhatMayChangeAndSaysWhatMayNot) {
  CUgraphNode a = addKernel(1);
  addKernel(2, {a});
  CUgraphExec exec = instantiate();
  CUgraph keep = graph;
  CUgraphExecUpdateResultInfo info = {};

  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode c = addKernel(3), d = addKernel(4);
  EXPECT_EQ(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, d);
  EXPECT_EQ(launch(exec), 12u) << "a failed update changes nothing";
  ASSERT_EQ(cuGraphAddDependencies(graph, &c, &d, nullptr, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecUpdate(exec, graph, &info), CUDA_SUCCESS);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(launch(exec), 34u);
  CUgraphNode extra;
  ASSERT_EQ(cuGraphAddEmptyNode(&extra, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, extra);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);

  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode empty;
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 0), CUDA_SUCCESS);
  addKernel(4, {empty});
  EXPECT_EQ(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  graph = keep;
}

TEST_F(GraphTest, EventsInGraphs) {
  CUevent event;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  CUgraphNode record, wait;
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, event), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event), CUDA_SUCCESS);
  CUevent read = nullptr;
  ASSERT_EQ(cuGraphEventWaitNodeGetEvent(wait, &read), CUDA_SUCCESS);
  EXPECT_EQ(read, event);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(wait, &read), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec = instantiate();
  launch(exec);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(GraphTest, MemoryLivesBetweenItsNodes) {
  CUDA_MEM_ALLOC_NODE_PARAMS p = {};
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  p.bytesize = 16;
  CUgraphNode allocation, fill, run, copy, release;
  ASSERT_EQ(cuGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &p), CUDA_SUCCESS);
  ASSERT_NE(p.dptr, 0u);
  CUDA_MEMSET_NODE_PARAMS zero = {p.dptr, 0, 4, 4, 4, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&fill, graph, &allocation, 1, &zero, session.context), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS k = kernel(2, p.dptr);
  ASSERT_EQ(cuGraphAddKernelNode(&run, graph, &fill, 1, &k), CUDA_SUCCESS);
  CUDA_MEMCPY3D move = {};
  move.srcMemoryType = move.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  move.srcDevice = p.dptr;
  move.dstDevice = array.address;
  move.WidthInBytes = 16;
  move.Height = move.Depth = 1;
  ASSERT_EQ(cuGraphAddMemcpyNode(&copy, graph, &run, 1, &move, session.context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&release, graph, &copy, 1, p.dptr), CUDA_SUCCESS);
  CUgraph clone;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphDestroyNode(release), CUDA_ERROR_NOT_SUPPORTED);
  CUgraphExec exec = instantiate(), second;
  EXPECT_EQ(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_INVALID_VALUE) << "one at a time";
  EXPECT_EQ(launch(exec), 42u);
  EXPECT_EQ(launch(exec), 42u);
  EXPECT_EQ(cuMemsetD8(p.dptr, 0, 1), CUDA_SUCCESS); // the driver knows the address; the work fails when it runs
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("which its graph does not hold at this time"), std::string::npos) << lastReport();
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, UnfreedMemoryRefusesASecondLaunch) {
  CUDA_MEM_ALLOC_NODE_PARAMS p = {};
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  p.bytesize = 64;
  CUgraphNode allocation;
  ASSERT_EQ(cuGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &p), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemFreeAsync(p.dptr, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(p.dptr), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
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
