// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two devices (a process of its own, TENON_EMULATOR_DEVICES=2): memory of each, copies between them, peer access, and
// handles of the wrong context.
#include "tests/unit/emulator/harness.h"

#include <algorithm>
#include <thread>

namespace tenon::emulator::test {
namespace {

const char *kIncrement = R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;
  ret;
}
)";

class PeerTest : public ::testing::Test {
protected:
  void SetUp() override {
    setenv("TENON_EMULATOR_QUIET", "1", 0);
    setenv("TENON_EMULATOR_FAULTS", "context", 0); // many tests, one process
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    int count = 0;
    ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
    ASSERT_EQ(count, 2) << "this binary is run with TENON_EMULATOR_DEVICES=2";
    for (int k = 0; k < 2; ++k) {
      ASSERT_EQ(cuDevicePrimaryCtxRetain(&context[k], k), CUDA_SUCCESS);
      ASSERT_EQ(cuCtxSetCurrent(context[k]), CUDA_SUCCESS);
      ASSERT_EQ(cuMemAlloc(&memory[k], 64), CUDA_SUCCESS);
      ASSERT_EQ(cuMemsetD32(memory[k], static_cast<unsigned>(k) + 1, 16), CUDA_SUCCESS);
      ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
      Loaded loaded = load(header() + kIncrement);
      ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
      ASSERT_EQ(cuModuleGetFunction(&function[k], loaded.module, "k"), CUDA_SUCCESS);
    }
  }
  void TearDown() override {
    for (int k = 0; k < 2; ++k)
      ASSERT_EQ(cuDevicePrimaryCtxRelease(k), CUDA_SUCCESS);
  }
  void use(int k) { ASSERT_EQ(cuCtxSetCurrent(context[k]), CUDA_SUCCESS); }
  CUresult launch(int k, CUdeviceptr address, CUstream stream = nullptr) {
    void *parameters[] = {&address};
    return cuLaunchKernel(function[k], 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  }
  unsigned read(CUdeviceptr address) {
    unsigned value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, address, 4), CUDA_SUCCESS);
    return value;
  }

  CUcontext context[2] = {};
  CUdeviceptr memory[2] = {};
  CUfunction function[2] = {};
};

TEST_F(PeerTest, EachDeviceHasItsMemory) {
  size_t free[2], total = 0;
  for (int k = 0; k < 2; ++k) {
    use(k);
    CUdevice device = -1;
    ASSERT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, k);
    ASSERT_EQ(cuMemGetInfo(&free[k], &total), CUDA_SUCCESS);
  }
  CUdeviceptr more = 0;
  ASSERT_EQ(cuMemAlloc(&more, 1 << 20), CUDA_SUCCESS);
  size_t after = 0;
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(free[1] - after, 1u << 20);
  use(0);
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(free[0], after);
  int ordinal = -1;
  ASSERT_EQ(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[1]), CUDA_SUCCESS);
  EXPECT_EQ(ordinal, 1);
}

TEST_F(PeerTest, CopiesBetweenDevicesNeedNoPeerAccess) {
  ASSERT_EQ(cuMemcpyPeer(memory[1], context[1], memory[0], context[0], 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(memory[1] + 4, memory[0], 4), CUDA_SUCCESS);
  EXPECT_EQ(read(memory[1]), 1u);
  EXPECT_EQ(read(memory[1] + 4), 1u);
  EXPECT_EQ(read(memory[1] + 8), 2u);
  EXPECT_EQ(cuMemcpyPeer(memory[1], context[1], memory[0], reinterpret_cast<CUcontext>(memory), 4),
            CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(PeerTest, KernelsReachAPeerWhenTheyMay) {
  int can = 0;
  ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  if (!can)
    GTEST_SKIP() << "the two arenas could not be mapped at one bias";
  ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  use(0);
  EXPECT_EQ(cuCtxDisablePeerAccess(context[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  ASSERT_EQ(cuCtxEnablePeerAccess(context[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(context[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(context[0], 0), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(launch(0, memory[1]), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(read(memory[1]), 3u);
  ASSERT_EQ(cuCtxDisablePeerAccess(context[1]), CUDA_SUCCESS);
  ASSERT_EQ(launch(0, memory[1]), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("without peer access"), std::string::npos) << lastReport();
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  use(1);
  EXPECT_EQ(read(memory[1]), 3u) << "the other device goes on";
}

TEST_F(PeerTest, HandlesOfTheWrongContext) {
  CUstream stream;
  CUevent event;
  use(1);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  use(0);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(0, memory[0], stream), CUDA_ERROR_INVALID_HANDLE) << "a kernel of another device";
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemsetD32Async(memory[0], 8, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS) << "devices wait for each other";
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read(memory[0]), 8u);
  ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

// For the thread sanitizer too: every kind of call from several threads on two devices.
TEST_F(PeerTest, ManyThreads) {
  for (const char *order : {"eager", "lazy", "random:4"}) {
    WithOrder with(order);
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        int k = t % 2;
        EXPECT_EQ(cuCtxSetCurrent(context[k]), CUDA_SUCCESS);
        CUstream stream;
        CUevent event;
        CUdeviceptr own = 0;
        int called = 0;
        EXPECT_EQ(cuStreamCreate(&stream, t < 3 ? 0 : CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
        for (unsigned round = 0; round < 10; ++round) {
          EXPECT_EQ(cuMemAllocAsync(&own, 256, stream), CUDA_SUCCESS);
          EXPECT_EQ(cuMemsetD32Async(own, round, 64, stream), CUDA_SUCCESS);
          EXPECT_EQ(launch(k, own, stream), CUDA_SUCCESS);
          EXPECT_EQ(cuLaunchHostFunc(stream, [](void *data) { ++*static_cast<int *>(data); }, &called), CUDA_SUCCESS);
          EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
          unsigned value = 0;
          EXPECT_EQ(cuMemcpyDtoHAsync(&value, own, 4, stream), CUDA_SUCCESS);
          EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
          EXPECT_EQ(value, round + 1);
          EXPECT_EQ(cuMemFreeAsync(own, stream), CUDA_SUCCESS);
          EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        }
        EXPECT_EQ(called, 10);
        EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

// What two H100 with driver 580 answered after a kernel of the first wrote to a null address.
TEST_F(PeerTest, AFaultEndsEveryDeviceOfTheProcess) {
  auto answers = [&] {
    CUstream stream;
    CUdeviceptr address;
    CUcontext made;
    std::vector<int> all;
    use(0);
    all.push_back(launch(0, 0) == CUDA_SUCCESS ? cuCtxSynchronize() : -1);
    use(1);
    all.push_back(launch(1, memory[1]));
    all.push_back(cuStreamCreate(&stream, 0));
    all.push_back(cuMemAlloc(&address, 64));
    all.push_back(load(header() + kIncrement).result);
    all.push_back(cuDevicePrimaryCtxReset(0));
    all.push_back(cuDevicePrimaryCtxRetain(&context[0], 0));
    all.push_back(cuCtxCreate(&made, nullptr, 0, 1));
    use(0);
    all.push_back(load(header() + kIncrement).result);
    return all;
  };
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("TENON_EMULATOR_FAULTS", "process", 1); // of the child
  EXPECT_EXIT(
      {
        for (int each : answers())
          fprintf(stderr, "%d ", each);
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "700 700 700 700 700 0 700 700 709 $");
  setenv("TENON_EMULATOR_FAULTS", "context", 1);
}

} // namespace
} // namespace tenon::emulator::test
