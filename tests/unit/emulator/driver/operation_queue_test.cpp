// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which enqueued work runs: eager, lazy, random; what streams, events and the default stream order; host
// functions; and that missing synchronisation shows.
#include "tests/unit/emulator/harness.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace tenon::emulator::test {
namespace {

// k(p, v): *p = *p * 10 + v.
const char *kAppend = R"(
.visible .entry k(.param .u64 p, .param .u32 v)
{
  .reg .b64 %rd<2>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r4, %r3, 10, %r1; st.global.u32 [%rd1], %r4;
  ret;
}
)";

class WorkQueueTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    Loaded loaded = load(header() + kAppend);
    ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
    ASSERT_EQ(cuModuleGetFunction(&append, loaded.module, "k"), CUDA_SUCCESS);
    for (CUstream *each : {&a, &b})
      ASSERT_EQ(cuStreamCreate(each, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    void *memory = nullptr;
    ASSERT_EQ(cuMemAllocHost(&memory, 64), CUDA_SUCCESS);
    pinned = static_cast<uint32_t *>(memory);
    memset(memory, 0, 64);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
    for (CUstream each : {a, b})
      EXPECT_EQ(cuStreamDestroy(each), CUDA_SUCCESS);
  }
  void run(unsigned digit, CUstream stream) {
    void *parameters[] = {&array.address, &digit};
    ASSERT_EQ(cuLaunchKernel(append, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
  }
  unsigned result() { return array.read()[0]; }

  Session session;
  DeviceArray<uint32_t> array{1};
  CUfunction append = nullptr;
  CUstream a = nullptr, b = nullptr;
  CUevent event = nullptr;
  uint32_t *pinned = nullptr;
};

class EveryOrder : public WorkQueueTest {};
INSTANTIATE_TEST_SUITE_P(Each, EveryOrder, ::testing::Values("eager", "lazy", "random:1", "random:2", "random:3"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase(name, ':');
                           return name;
                         });

TEST_P(EveryOrder, AStreamRunsInOrder) {
  WithOrder order(GetParam());
  for (unsigned digit : {1, 2, 3, 4})
    run(digit, a);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 1234u);
}

TEST_P(EveryOrder, EventsOrderStreams) {
  WithOrder order(GetParam());
  for (unsigned k = 0; k < 4; ++k) {
    CUstream from = k % 2 ? b : a, to = k % 2 ? a : b;
    run(k + 1, from);
    ASSERT_EQ(cuEventRecord(event, from), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(to, event, 0), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 1234u);
}

TEST_P(EveryOrder, TheDefaultStreamIsOrderedWithBlockingOnes) {
  WithOrder order(GetParam());
  CUstream blocking[2];
  for (CUstream &each : blocking)
    ASSERT_EQ(cuStreamCreate(&each, 0), CUDA_SUCCESS);
  run(1, blocking[0]);
  run(2, nullptr);
  run(3, blocking[1]);
  run(4, CU_STREAM_LEGACY);
  run(5, CU_STREAM_PER_THREAD);
  run(6, nullptr);
  ASSERT_EQ(cuStreamDestroy(blocking[1]), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(result(), 123456u);
  ASSERT_EQ(cuStreamDestroy(blocking[0]), CUDA_SUCCESS);
}

TEST_P(EveryOrder, HostFunctionsRunInTheirTurnAndMayNotCallTheDriver) {
  WithOrder order(GetParam());
  struct Seen {
    uint32_t value, *pinned;
    CUresult inside;
  } seen = {0, pinned, CUDA_SUCCESS};
  run(7, a);
  ASSERT_EQ(cuMemcpyDtoHAsync(pinned, array.address, 4, a), CUDA_SUCCESS);
  auto look = [](void *data) {
    Seen &s = *static_cast<Seen *>(data);
    s.value = *s.pinned;
    *s.pinned = 9;
    s.inside = cuCtxSynchronize();
  };
  ASSERT_EQ(cuLaunchHostFunc(a, look, &seen), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoDAsync(array.address, pinned, 4, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(seen.value, 7u);
  EXPECT_EQ(seen.inside, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(result(), 9u);
}

TEST_P(EveryOrder, AHostFunctionMayTakeALockThatItsCallerHolds) {
  WithOrder order(GetParam(), "5");
  static std::mutex mutex;
  static std::atomic<bool> done;
  done = false;
  mutex.lock();
  ASSERT_EQ(cuLaunchHostFunc(
                a,
                [](void *) {
                  std::lock_guard<std::mutex> lock(mutex);
                  done = true;
                },
                nullptr),
            CUDA_SUCCESS);
  run(1, a);
  EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
  mutex.unlock();
  while (!done) // nobody asks the driver: the work starts all the same
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 1u);
}

TEST_P(EveryOrder, QueriesComeToAnEnd) {
  WithOrder order(GetParam());
  for (unsigned digit : {1, 2, 3})
    run(digit, a);
  ASSERT_EQ(cuEventRecord(event, a), CUDA_SUCCESS);
  CUresult found = CUDA_ERROR_NOT_READY;
  for (int k = 0; k < 100 && found == CUDA_ERROR_NOT_READY; ++k)
    found = cuEventQuery(event);
  EXPECT_EQ(found, CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 123u);
}

TEST_P(EveryOrder, CallbacksGetTheirStream) {
  WithOrder order(GetParam());
  static CUstream seen;
  static CUresult status;
  seen = nullptr;
  ASSERT_EQ(cuStreamAddCallback(
                a,
                [](CUstream stream, CUresult result, void *) {
                  seen = stream;
                  status = result;
                },
                nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(seen, a);
  EXPECT_EQ(status, CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAddCallback(a, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_P(EveryOrder, PageableMemoryIsReadWhenTheCopyIsEnqueued) {
  WithOrder order(GetParam());
  uint32_t value = 5;
  ASSERT_EQ(cuMemcpyHtoDAsync(array.address, &value, 4, a), CUDA_SUCCESS);
  value = 6;
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 5u);
  run(1, a);
  ASSERT_EQ(cuMemcpyDtoHAsync(&value, array.address, 4, a), CUDA_SUCCESS);
  EXPECT_EQ(value, 51u) << "a copy to pageable memory returns when it is done";
}

// What lazy is for: mistakes that eager work hides.

TEST_F(WorkQueueTest, LazyShowsAMissingSynchronise) {
  WithOrder order("lazy");
  run(3, a);
  ASSERT_EQ(cuMemcpyDtoHAsync(pinned, array.address, 4, a), CUDA_SUCCESS);
  EXPECT_EQ(pinned[0], 0u);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS) << "never recorded";
  ASSERT_EQ(cuEventRecord(event, a), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(pinned[0], 3u);
}

TEST_F(WorkQueueTest, LazyShowsAMissingWaitBetweenStreams) {
  WithOrder order("lazy");
  run(1, a);
  run(2, b); // meant to follow
  ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(pinned, array.address, 4, b), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_EQ(pinned[0], 2u) << "the work of a has not run";
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result(), 21u);
}

TEST_F(WorkQueueTest, LazyReadsPinnedMemoryLate) {
  WithOrder order("lazy");
  pinned[0] = 1;
  ASSERT_EQ(cuMemcpyHtoDAsync(array.address, pinned, 4, a), CUDA_SUCCESS);
  pinned[0] = 2; // too early
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(result(), 2u);
}

TEST_F(WorkQueueTest, LazyShowsAnEarlyFree) {
  WithOrder order("lazy");
  CUdeviceptr early = 0;
  ASSERT_EQ(cuMemAllocAsync(&early, 16, a), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(early, 1, 4, a), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(early, b), CUDA_SUCCESS); // not ordered behind the fill
  EXPECT_EQ(cuMemFreeAsync(early, b), CUDA_ERROR_INVALID_VALUE) << "twice";
  ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("fill of 16 bytes: out-of-bounds write"), std::string::npos) << lastReport();
  EXPECT_NE(lastReport().find("which was freed"), std::string::npos) << lastReport();
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  SetUp(); // TearDown wants its objects
}

TEST_F(WorkQueueTest, RandomOrderDependsOnTheSeedAlone) {
  auto orderOf = [&](const std::string &seed) {
    WithOrder order("random:" + seed);
    EXPECT_EQ(cuMemsetD32(array.address, 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    for (unsigned digit = 1; digit <= 6; ++digit)
      run(digit, digit % 2 ? a : b);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return result();
  };
  std::set<unsigned> found;
  for (int seed = 0; seed < 8; ++seed) {
    unsigned first = orderOf(std::to_string(seed));
    EXPECT_EQ(orderOf(std::to_string(seed)), first);
    found.insert(first);
  }
  EXPECT_GT(found.size(), 2u);
}

// Warp w of block b takes a ticket and writes it to p[1 + 4 * b + w].
const char *kTickets = R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %q;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ne.u32 %q, %r2, 0;
  @%q ret;
  atom.global.add.u32 %r3, [%rd1], 1;
  mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 2; shr.u32 %r5, %r1, 5; add.u32 %r4, %r4, %r5;
  mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+4], %r3;
  ret;
}
)";

TEST(WorkQueue, RandomOrderShufflesBlocksAndWarps) {
  Session session;
  auto tickets = [](const std::string &order) {
    WithOrder with(order);
    DeviceArray<uint32_t> array(33);
    EXPECT_EQ(run(header() + kTickets, {array.address}, 8, 128), CUDA_SUCCESS);
    std::vector<uint32_t> found = array.read();
    found.erase(found.begin());
    return found;
  };
  std::vector<uint32_t> straight = tickets("eager"), one = tickets("random:1");
  for (uint32_t k = 0; k < 32; ++k)
    EXPECT_EQ(straight[k], k);
  EXPECT_EQ(tickets("random:1"), one);
  EXPECT_NE(one, straight);
  EXPECT_NE(tickets("random:2"), one);
  bool blocks = false, warps = false;
  for (const char *order : {"random:1", "random:2", "random:3"}) {
    std::vector<uint32_t> found = tickets(order);
    EXPECT_EQ(std::set<uint32_t>(found.begin(), found.end()).size(), 32u) << "each warp once";
    blocks |= found[0] / 4 != 0;
    warps |= found[0] % 4 != 0;
  }
  EXPECT_TRUE(blocks);
  EXPECT_TRUE(warps);
}

TEST(WorkQueue, AnUnknownOrderIsRefused) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TENON_EMULATOR_ORDER", "random", 1);
        _exit(cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
      },
      ::testing::ExitedWithCode(0),
      "TENON_EMULATOR_ORDER=random is not understood; wanted eager, lazy, or random:SEED");
}

} // namespace
} // namespace tenon::emulator::test
