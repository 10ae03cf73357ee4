// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/queue/submission_queue.h"

#include "tests/unit/runtime/command_buffer_fixture.h"

#include <atomic>

namespace tenon::runtime {

using namespace tenon::test;

class SubmissionQueueTest : public CommandBufferFixture {
protected:
  SubmissionQueueTest() { queue = SubmissionQueue::create(device).take(); }
  void TearDown() override {
    queue.reset();
    CommandBufferFixture::TearDown();
  }
  std::shared_ptr<SubmissionQueue> queue;
  std::shared_ptr<Semaphore> semaphore = Semaphore::create(), other = Semaphore::create();
};

TEST_F(SubmissionQueueTest, SignalsWhenComplete) {
  const SemaphorePoint signal = {semaphore, 1};
  ASSERT_OK(queue->fill({}, ref(), 7, 1, {&signal, 1}));
  ASSERT_OK(semaphore->wait(1, kWaitForever));
  EXPECT_EQ(read()[63], 7);
}

TEST_F(SubmissionQueueTest, IssuesWhenTheWaitIsReached) {
  const SemaphorePoint wait = {semaphore, 2}, signal = {other, 1};
  ASSERT_OK(queue->fill({&wait, 1}, ref(), 7, 1, {&signal, 1}));
  EXPECT_STATUS(queue->waitIdle(1000000), DeadlineExceeded, "1 submissions are not complete");
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 0u);
  ASSERT_OK(semaphore->signal(2));
  ASSERT_OK(other->wait(1, kWaitForever));
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 1u);
}

TEST_F(SubmissionQueueTest, ASignalMayComeBehindItsWait) {
  const SemaphorePoint wait = {semaphore, 1}, signal = {other, 1};
  ASSERT_OK(queue->submit({&wait, 1}, {}, {&signal, 1}));
  ASSERT_OK(queue->submit({}, {}, {&wait, 1}));
  ASSERT_OK(other->wait(1, kWaitForever));
}

TEST_F(SubmissionQueueTest, AFailedWaitFailsTheSignals) {
  const SemaphorePoint wait = {semaphore, 1}, signal = {other, 1};
  ASSERT_OK(queue->fill({&wait, 1}, ref(), 7, 1, {&signal, 1}));
  semaphore->fail(makeError(StatusCode::NotFound, "lost"));
  EXPECT_STATUS(other->wait(1, kWaitForever), NotFound, "lost");
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 0u);
}

TEST_F(SubmissionQueueTest, AFaultFailsTheSignalsAndNamesTheDispatches) {
  fake.kernels["add"] = [&](const FakeLaunch &) { fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS; };
  const SemaphorePoint signal = {semaphore, 1}, next = {other, 1};
  ASSERT_OK(queue->dispatch({}, executable, 0, {1, 1, 1}, {{ref(), ref()}, {0}}, {&signal, 1}));
  ASSERT_OK(queue->submit({&signal, 1}, {}, {&next, 1}));
  EXPECT_STATUS(semaphore->wait(1, kWaitForever), Aborted,
                "a submission that dispatches 'add': cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_STATUS(other->wait(1, kWaitForever), Aborted, "'add'");
  fake.sticky = CUDA_SUCCESS;
}

TEST_F(SubmissionQueueTest, EveryFailureOfTheDriverReachesTheSemaphores) {
  for (const char *function : {"cuMemsetD32Async", "cuEventCreate", "cuEventRecord", "cuEventSynchronize"}) {
    auto fresh = SubmissionQueue::create(device).take(); // its pool has no event yet
    auto signalled = Semaphore::create();
    const SemaphorePoint signal = {signalled, 1};
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    ASSERT_OK(fresh->fill({}, ref(), 7, 4, {&signal, 1}));
    EXPECT_STATUS(signalled->wait(1, kWaitForever), ResourceExhausted, function);
    fake.failures.clear();
  }
  fake.failures = {{"cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY}};
  EXPECT_STATUS(SubmissionQueue::create(device).status(), ResourceExhausted, "cuStreamCreate");
  fake.failures.clear();
}

TEST_F(SubmissionQueueTest, RunsHostCalls) {
  std::atomic<int> calls = 0;
  const SemaphorePoint wait = {semaphore, 1}, signal = {other, 1};
  ASSERT_OK(queue->hostCall({&wait, 1}, [&] { return ++calls, okStatus(); }, {&signal, 1}));
  EXPECT_EQ(calls, 0);
  ASSERT_OK(semaphore->signal(1));
  ASSERT_OK(other->wait(1, kWaitForever));
  EXPECT_EQ(calls, 1);
  const SemaphorePoint failed = {other, 2};
  ASSERT_OK(queue->hostCall({}, [] { return makeError(StatusCode::DataLoss, "bad bytes"); }, {&failed, 1}));
  EXPECT_STATUS(other->wait(2, kWaitForever), DataLoss, "bad bytes");
  EXPECT_STATUS(queue->hostCall({}, nullptr, {}), InvalidArgument, "without a function");
}

TEST_F(SubmissionQueueTest, AllocatesAndDeallocatesInOrder) {
  const SemaphorePoint there = {semaphore, 1}, filled = {semaphore, 2}, gone = {semaphore, 3};
  auto memory = queue->allocate({}, 128, {}, {&there, 1});
  ASSERT_OK(memory.status());
  ASSERT_OK(queue->fill({&there, 1}, BufferRef::of(*memory), 1, 4, {&filled, 1}));
  ASSERT_OK(queue->deallocate({&filled, 1}, *memory, {&gone, 1}));
  ASSERT_OK(semaphore->wait(3, kWaitForever));
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 1u);
  EXPECT_STATUS(queue->deallocate({}, *memory, {}), FailedPrecondition, "was deallocated before");
  EXPECT_STATUS(queue->fill({}, BufferRef::of(*memory), 1, 4, {}), FailedPrecondition, "that was deallocated");
  EXPECT_STATUS(queue->deallocate({}, buffer, {}), FailedPrecondition, "is not of this device's stream-ordered memory");
  EXPECT_STATUS(queue->deallocate({}, nullptr, {}), InvalidArgument, "no buffer");
  EXPECT_STATUS(queue->allocate({}, 8, {.access = 0}, {}).status(), InvalidArgument, "access is 0");
  EXPECT_STATUS(queue->allocate({}, 8, {.memory = MemoryType::HostVisible}, {}).status(), InvalidArgument,
                "only device memory");
}

TEST_F(SubmissionQueueTest, ADeallocationTakesPlaceWhenItsWaitsAreReached) {
  const SemaphorePoint used = {semaphore, 1}, gone = {semaphore, 2};
  auto memory = queue->allocate({}, 128, {}, {});
  ASSERT_OK(memory.status());
  ASSERT_OK(queue->deallocate({&used, 1}, *memory, {&gone, 1}));
  EXPECT_FALSE((*memory)->isRetired());
  ASSERT_OK(queue->fill({}, BufferRef::of(*memory), 1, 4, {&used, 1})); // submitted behind it, ordered before it
  ASSERT_OK(semaphore->wait(2, kWaitForever));
  EXPECT_TRUE((*memory)->isRetired());
  EXPECT_EQ(fake.count("cuMemsetD32Async"), 1u);
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 1u);
}

TEST_F(SubmissionQueueTest, ARecordingOfDeallocatedMemoryIsNotSubmittedAgain) {
  const SemaphorePoint ran = {semaphore, 1}, gone = {semaphore, 2}, gate = {other, 1}, late = {semaphore, 3};
  auto memory = queue->allocate({}, 128, {}, {}).take();
  ASSERT_OK(commands->fill(BufferRef::of(memory), 1, 4));
  ASSERT_OK(commands->end());
  const BoundCommandBuffer bound = {commands};
  ASSERT_OK(queue->submit({}, {&bound, 1}, {&ran, 1}));
  ASSERT_OK(queue->submit({&gate, 1}, {&bound, 1}, {&late, 1})); // not ordered before the deallocation: found later
  ASSERT_OK(queue->deallocate({&ran, 1}, memory, {&gone, 1}));
  ASSERT_OK(semaphore->wait(2, kWaitForever));
  EXPECT_STATUS(queue->submit({}, {&bound, 1}, {}), FailedPrecondition, "names a buffer of 128 bytes that was");
  ASSERT_OK(other->signal(1));
  EXPECT_STATUS(semaphore->wait(3, kWaitForever), FailedPrecondition, "that was deallocated");
}

TEST_F(SubmissionQueueTest, StreamWorkWaitsAndSignals) {
  const SemaphorePoint wait = {semaphore, 1}, signal = {other, 1}, failed = {other, 2};
  std::atomic<int> calls = 0;
  ASSERT_OK(
      queue->streamWork({&wait, 1}, [&](CUstream) { return ++calls, okStatus(); }, "a call of 'f'", {&signal, 1}));
  EXPECT_EQ(calls, 0);
  ASSERT_OK(semaphore->signal(1));
  ASSERT_OK(other->wait(1, kWaitForever));
  EXPECT_EQ(calls, 1);
  fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  ASSERT_OK(queue->streamWork({}, [&](CUstream) { return okStatus(); }, "a call of 'f'", {&failed, 1}));
  EXPECT_STATUS(other->wait(2, kWaitForever), Aborted, "a submission of a call of 'f': cuEventSynchronize");
  fake.sticky = CUDA_SUCCESS;
  EXPECT_STATUS(queue->streamWork({}, nullptr, "", {}), InvalidArgument, "without a function");
}

TEST_F(SubmissionQueueTest, RefusesWhatCannotBeSubmitted) {
  const SemaphorePoint none = {};
  EXPECT_STATUS(queue->submit({&none, 1}, {}, {}), InvalidArgument, "a wait semaphore is null");
  EXPECT_STATUS(queue->submit({}, {}, {&none, 1}), InvalidArgument, "a signal semaphore is null");
  const BoundCommandBuffer null = {}, recording = {commands};
  EXPECT_STATUS(queue->submit({}, {&null, 1}, {}), InvalidArgument, "a command buffer is null");
  EXPECT_STATUS(queue->submit({}, {&recording, 1}, {}), FailedPrecondition, "was not ended");
}

TEST_F(SubmissionQueueTest, ADestroyedQueueFailsWhatItDidNotIssue) {
  const SemaphorePoint wait = {semaphore, 1}, signal = {other, 1};
  ASSERT_OK(queue->submit({&wait, 1}, {}, {&signal, 1}));
  queue.reset();
  EXPECT_STATUS(other->wait(1, kWaitForever), Aborted, "the queue was destroyed");
}

TEST_F(SubmissionQueueTest, ReusesItsEvents) {
  for (uint64_t i = 1; i <= 100; ++i) {
    const SemaphorePoint signal = {semaphore, i};
    ASSERT_OK(queue->submit({}, {}, {&signal, 1}));
    ASSERT_OK(semaphore->wait(i, kWaitForever));
  }
  EXPECT_LE(fake.count("cuEventCreate"), 3u);
}

} // namespace tenon::runtime
