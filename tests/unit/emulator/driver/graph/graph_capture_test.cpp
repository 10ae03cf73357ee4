// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture: what becomes of calls on a capturing stream, how streams join, and what invalidates a capture.
#include "tests/unit/emulator/harness.h"

#include <functional>
#include <thread>

namespace tenon::emulator::test {
namespace {

const char *kIncrement = R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<4>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, 1; st.global.u32 [%rd1], %r4;
  ret;
}
)";

class CaptureTest : public ::testing::Test {
protected:
  void SetUp() override {
    Loaded loaded = load(header() + kIncrement);
    ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
    ASSERT_EQ(cuModuleGetFunction(&increment, loaded.module, "k"), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&fork, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&join, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(fork), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(join), CUDA_SUCCESS);
  }
  CUresult launch(CUstream on) {
    void *parameters[] = {&counter.address};
    return cuLaunchKernel(increment, 1, 1, 1, 1, 1, 1, 0, on, parameters, nullptr);
  }
  CUresult begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    return cuStreamBeginCapture(stream, mode);
  }
  CUstreamCaptureStatus status(CUstream on) {
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(cuStreamIsCapturing(on, &found), CUDA_SUCCESS);
    return found;
  }
  size_t count(CUgraph graph, bool edges = false) {
    size_t found = 0;
    EXPECT_EQ(edges ? cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &found)
                    : cuGraphGetNodes(graph, nullptr, &found),
              CUDA_SUCCESS);
    return found;
  }
  CUresult endInvalid() {
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    CUresult result = cuStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph, nullptr);
    return result;
  }

  Session session;
  DeviceArray<uint32_t> counter{1};
  CUfunction increment = nullptr;
  CUstream stream = nullptr, other = nullptr;
  CUevent fork = nullptr, join = nullptr;
};

TEST_F(CaptureTest, RecordsInsteadOfRunning) {
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  CUgraph graph;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(counter.read()[0], 0u);
  EXPECT_EQ(count(graph), 2u);
  EXPECT_EQ(count(graph, true), 1u);
  CUgraphExec exec;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(counter.read()[0], 4u);
  ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(CaptureTest, EventsForkAndJoinStreams) {
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
  ASSERT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(launch(other), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(join, other), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(stream, join, 0), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  CUgraph graph;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(count(graph), 4u);
  EXPECT_EQ(count(graph, true), 4u); // a diamond
  EXPECT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_ERROR_CAPTURED_EVENT);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(CaptureTest, UnjoinedWorkIsRefused) {
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  ASSERT_EQ(launch(other), CUDA_SUCCESS);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureTest, SynchronisingInvalidates) {
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(launch(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, ModesDecideAboutUnsafeCalls) {
  CUdeviceptr address = 0;
  auto allocate = [&] {
    CUresult result = cuMemAlloc(&address, 16);
    if (result == CUDA_SUCCESS)
      EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
    return result;
  };
  auto inOtherThread = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(session.context), CUDA_SUCCESS);
      result = allocate();
    }).join();
    return result;
  };
  ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(inOtherThread(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  CUgraph graph;
  ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(inOtherThread(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(allocate(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);

  ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(allocate(), CUDA_SUCCESS);
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// As the driver does it (580.159, H200): what may be called by another thread while this one captures for all, and what
// ends the capture. A relaxed thread may call each of these.
TEST_F(CaptureTest, WhatAnotherThreadGivesBackMayEndACapture) {
  struct GivesBack {
    const char *name;
    bool ends;
    std::function<std::function<CUresult()>()> prepare;
  };
  CUstream third;
  ASSERT_EQ(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  auto graph = [] {
    CUgraph made = nullptr;
    EXPECT_EQ(cuGraphCreate(&made, 0), CUDA_SUCCESS);
    return made;
  };
  const GivesBack calls[] = {
      {"cuGraphExecDestroy", true,
       [&]() -> std::function<CUresult()> {
         CUgraph of = graph();
         CUgraphExec exec = nullptr;
         EXPECT_EQ(cuGraphInstantiate(&exec, of, 0), CUDA_SUCCESS);
         EXPECT_EQ(cuGraphDestroy(of), CUDA_SUCCESS);
         return [exec] { return cuGraphExecDestroy(exec); };
       }},
      {"cuGraphDestroy", false,
       [&]() -> std::function<CUresult()> { return [of = graph()] { return cuGraphDestroy(of); }; }},
      {"cuMemFreeAsync", true,
       [&]() -> std::function<CUresult()> {
         CUdeviceptr address = 0;
         EXPECT_EQ(cuMemAllocAsync(&address, 64, third), CUDA_SUCCESS);
         return [address, third] { return cuMemFreeAsync(address, third); };
       }},
      {"cuStreamQuery", true,
       [&]() -> std::function<CUresult()> {
         EXPECT_EQ(cuStreamSynchronize(third), CUDA_SUCCESS);
         return [third] { return cuStreamQuery(third); };
       }},
      {"cuStreamSynchronize", true,
       [&]() -> std::function<CUresult()> { return [third] { return cuStreamSynchronize(third); }; }},
      {"cuStreamDestroy", false,
       []() -> std::function<CUresult()> {
         CUstream made = nullptr;
         EXPECT_EQ(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
         return [made] { return cuStreamDestroy(made); };
       }},
      {"cuEventDestroy", false,
       []() -> std::function<CUresult()> {
         CUevent made = nullptr;
         EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
         return [made] { return cuEventDestroy(made); };
       }},
  };
  for (const GivesBack &one : calls)
    for (CUstreamCaptureMode mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
      SCOPED_TRACE(testing::Message() << one.name << " in a thread of mode " << mode);
      const bool ends = one.ends && mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
      std::function<CUresult()> call = one.prepare();
      ASSERT_EQ(begin(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
      std::thread([&] {
        EXPECT_EQ(cuCtxSetCurrent(session.context), CUDA_SUCCESS);
        CUstreamCaptureMode its = mode;
        EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&its), CUDA_SUCCESS);
        EXPECT_EQ(call(), ends ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
      }).join();
      CUgraph captured = nullptr;
      EXPECT_EQ(cuStreamEndCapture(stream, &captured), ends ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
      if (captured)
        EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
      if (ends) // it was refused
        EXPECT_EQ(call(), CUDA_SUCCESS);
    }
  EXPECT_EQ(cuStreamDestroy(third), CUDA_SUCCESS);
}

TEST_F(CaptureTest, EndsWhereAndByWhomItBegan) {
  CUgraph graph;
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(begin(), CUDA_ERROR_ILLEGAL_STATE);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(session.context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  ASSERT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, StaysApartFromRunningWorkAndFromOtherCaptures) {
  ASSERT_EQ(launch(other), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(fork, other), CUDA_SUCCESS);
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, fork, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  ASSERT_EQ(begin(), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(fork, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, fork, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(endInvalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUgraph graph;
  EXPECT_EQ(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, TheDefaultStreamWouldWaitForABlockingOne) {
  CUstream blocking;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(launch(nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CUgraph graph;
  EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
}

TEST_F(CaptureTest, MemoryGraphsAndHostFunctionsBecomeNodes) {
  static int called;
  called = 0;
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  CUdeviceptr scratch = 0;
  ASSERT_EQ(cuMemAllocAsync(&scratch, 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(scratch, 41, 16, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync(counter.address, scratch, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(stream, [](void *data) { ++*static_cast<int *>(data); }, &called), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(scratch, stream), CUDA_SUCCESS);
  CUgraph graph;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(count(graph), 6u);
  CUgraphExec exec;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (int k = 0; k < 2; ++k)
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(counter.read()[0], 42u);
  EXPECT_EQ(called, 2);
  ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(CaptureTest, ALaunchedGraphBecomesAChild) {
  CUgraph inner, outer;
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &inner), CUDA_SUCCESS);
  CUgraphExec exec, twice;
  ASSERT_EQ(cuGraphInstantiate(&exec, inner, 0), CUDA_SUCCESS);
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &outer), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&twice, outer, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(twice, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(counter.read()[0], 2u);
  for (CUgraphExec each : {exec, twice})
    ASSERT_EQ(cuGraphExecDestroy(each), CUDA_SUCCESS);
  for (CUgraph each : {inner, outer})
    ASSERT_EQ(cuGraphDestroy(each), CUDA_SUCCESS);
}

TEST_F(CaptureTest, DependenciesCanBeReadAndReplaced) {
  CUgraph graph;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode root;
  ASSERT_EQ(cuGraphAddEmptyNode(&root, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph, &root, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  CUstreamCaptureStatus found;
  cuuint64_t id = 0;
  CUgraph into = nullptr;
  const CUgraphNode *nodes = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  size_t number = 0;
  ASSERT_EQ(cuStreamGetCaptureInfo(stream, &found, &id, &into, &nodes, &edges, &number), CUDA_SUCCESS);
  EXPECT_EQ(found, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(into, graph);
  ASSERT_EQ(number, 1u);
  EXPECT_NE(nodes[0], root);
  ASSERT_EQ(cuStreamUpdateCaptureDependencies(stream, &root, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  CUgraph same;
  ASSERT_EQ(cuStreamEndCapture(stream, &same), CUDA_SUCCESS);
  EXPECT_EQ(same, graph);
  size_t dependents = 0;
  ASSERT_EQ(cuGraphNodeGetDependentNodes(root, nullptr, nullptr, &dependents), CUDA_SUCCESS);
  EXPECT_EQ(dependents, 2u);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(stream, &root, nullptr, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

} // namespace
} // namespace tenon::emulator::test
