// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream memory operations: writes, waits, conditions, batches; who may write what a stream waits for; deadlocks.
#include "tests/unit/emulator/harness.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace tenon::emulator::test {
namespace {

class StreamMemoryTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    for (CUstream *each : {&a, &b})
      ASSERT_EQ(cuStreamCreate(each, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    void *memory = nullptr;
    ASSERT_EQ(cuMemAllocHost(&memory, 64), CUDA_SUCCESS);
    memset(memory, 0, 64);
    pinned = static_cast<uint32_t *>(memory);
    flag = reinterpret_cast<CUdeviceptr>(pinned);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    for (CUstream each : {a, b})
      EXPECT_EQ(cuStreamDestroy(each), CUDA_SUCCESS);
  }
  void store(uint32_t value) { std::atomic_ref<uint32_t>(*pinned).store(value, std::memory_order_release); }

  Session session;
  DeviceArray<uint32_t> array{4};
  CUstream a = nullptr, b = nullptr;
  uint32_t *pinned = nullptr;
  CUdeviceptr flag = 0;
};

class EveryOrderMemory : public StreamMemoryTest {};
INSTANTIATE_TEST_SUITE_P(Each, EveryOrderMemory, ::testing::Values("eager", "lazy", "random:5"), [](const auto &info) {
  std::string name = info.param;
  std::erase(name, ':');
  return name;
});

TEST_P(EveryOrderMemory, AStreamWaitsForAnother) {
  WithOrder order(GetParam());
  ASSERT_EQ(cuStreamWaitValue32(a, array.address + 4, 3, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync(array.address, array.address + 4, 4, a), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue32(b, array.address + 4, 3, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(array.read()[0], 3u);
}

TEST_P(EveryOrderMemory, TheHostMayWriteWhileAThreadWaits) {
  WithOrder order(GetParam());
  ASSERT_EQ(cuStreamWaitValue32(a, flag, 7, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(array.address, 5, 1, a), CUDA_SUCCESS);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    store(8);
  });
  EXPECT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  writer.join();
  EXPECT_EQ(array.read()[0], 5u);
}

TEST_P(EveryOrderMemory, WorkGoesOnWithoutACall) {
  WithOrder order(GetParam(), "5");
  ASSERT_EQ(cuStreamWaitValue32(a, flag, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue32(a, flag + 4, 2, 0), CUDA_SUCCESS);
  store(1);
  while (std::atomic_ref<uint32_t>(pinned[1]).load(std::memory_order_acquire) != 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(StreamMemoryTest, ConditionsAreThoseOfCuda) {
  struct Case {
    unsigned flags;
    uint64_t value, wanted;
    bool holds;
  } cases[] = {
      {CU_STREAM_WAIT_VALUE_GEQ, 5, 5, true},
      {CU_STREAM_WAIT_VALUE_GEQ, 4, 5, false},
      {CU_STREAM_WAIT_VALUE_GEQ, 0, 0xffffffffu, true}, // cyclic
      {CU_STREAM_WAIT_VALUE_EQ, 5, 5, true},
      {CU_STREAM_WAIT_VALUE_EQ, 6, 5, false},
      {CU_STREAM_WAIT_VALUE_AND, 6, 3, true},
      {CU_STREAM_WAIT_VALUE_AND, 4, 3, false},
      {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000u, 0xffffu, false},
      {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000u, 0xfffeu, true},
  };
  for (const Case &c : cases) {
    store(static_cast<uint32_t>(c.value));
    ASSERT_EQ(cuStreamWaitValue32(a, flag, static_cast<uint32_t>(c.wanted), c.flags), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(a), c.holds ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY) << c.flags << " " << c.value;
    // Whatever it is, this satisfies it.
    store(c.flags == CU_STREAM_WAIT_VALUE_NOR ? 0 : static_cast<uint32_t>(c.wanted));
    ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  }
}

TEST_F(StreamMemoryTest, BatchesRunInOrder) {
  CUstreamBatchMemOpParams ops[4] = {};
  ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  ops[0].writeValue.address = array.address;
  ops[0].writeValue.value64 = 0x1'0000'0002ull;
  ops[1].operation = CU_STREAM_MEM_OP_BARRIER;
  ops[2].operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  ops[2].waitValue.address = array.address;
  ops[2].waitValue.value64 = 0x1'0000'0002ull;
  ops[2].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  ops[3].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  ops[3].writeValue.address = array.address + 8;
  ops[3].writeValue.value = 9;
  ASSERT_EQ(cuStreamBatchMemOp(a, 4, ops, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(array.read(), (std::vector<uint32_t>{2, 1, 9, 0}));
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
  ops[3].writeValue.value = 10;
  CUDA_BATCH_MEM_OP_NODE_PARAMS p = {session.context, 4, ops, 0};
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &p), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (int k = 0; k < 2; ++k)
    ASSERT_EQ(cuGraphLaunch(exec, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(array.read()[2], 10u);
  ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(StreamMemoryTest, ArgumentsAreChecked) {
  uint32_t pageable = 0;
  EXPECT_EQ(cuStreamWaitValue32(a, reinterpret_cast<CUdeviceptr>(&pageable), 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32(a, flag + 2, 0, 0), CUDA_ERROR_INVALID_VALUE) << "misaligned";
  EXPECT_EQ(cuStreamWriteValue64(a, flag + 4, 0, 0), CUDA_ERROR_INVALID_VALUE) << "misaligned";
  EXPECT_EQ(cuStreamWaitValue32(a, flag, 0, CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuStreamBatchMemOp(a, 0, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  int supported = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0), CUDA_SUCCESS);
  EXPECT_EQ(supported, 1);
}

TEST_F(StreamMemoryTest, AWaitThatNothingEndsIsADeadlock) {
  setenv("TENON_EMULATOR_DEADLOCK_SECONDS", "0.2", 1);
  ASSERT_EQ(cuStreamWaitValue32(a, flag, 4, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(array.address, 5, 1, a), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(a), CUDA_ERROR_LAUNCH_TIMEOUT);
  unsetenv("TENON_EMULATOR_DEADLOCK_SECONDS");
  EXPECT_NE(lastReport().find("deadlock"), std::string::npos) << lastReport();
  EXPECT_NE(lastReport().find("wait for the 32-bit value at 0x"), std::string::npos) << lastReport();
  EXPECT_NE(lastReport().find(">= 0x4, it is 0x0"), std::string::npos) << lastReport();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT) << "sticky";
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  SetUp();
}

} // namespace
} // namespace tenon::emulator::test
