// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executable graphs through the driver API: what they keep of their graph, their launches, what may be changed after
// instantiation, and the memory that they hold.
#include "tests/unit/emulator/graph_testing.h"

namespace tenon::emulator::test {
namespace {

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

} // namespace
} // namespace tenon::emulator::test
