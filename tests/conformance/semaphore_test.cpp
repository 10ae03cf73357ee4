// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timelines: signals, failures, waits of all and any, threads; submissions: waits before signals, fan-out, several
// queues, failures that travel; host calls; memory in stream order.
#include "fixture.h"

#include <atomic>
#include <thread>

namespace tenon::conformance {

using Timeline = DeviceTest;
using Submission = DeviceTest;
using HostCall = DeviceTest;
using QueueMemory = DeviceTest;

TEST_F(Timeline, TimepointsAreNotExportedOrImported) {
  auto semaphore = Semaphore::create();
  FAILS(semaphore->exportTimepoint(1, Semaphore::TimepointKind::CudaEvent), Unimplemented, "are not exported");
  FAILS(semaphore->importTimepoint(1, Semaphore::TimepointKind::EventFd, 0), Unimplemented, "are not imported");
}
TEST_F(Timeline, SignalsAndQueries) {
  auto semaphore = Semaphore::create(5);
  EXPECT_EQ(*semaphore->query(), 5u);
  OK(semaphore->signal(uint64_t(1) << 63));
  EXPECT_EQ(*semaphore->query(), uint64_t(1) << 63);
  FAILS(semaphore->signal(6), InvalidArgument, "only grows");
}
TEST_F(Timeline, FailureKeepsItsCode) {
  for (StatusCode code : {StatusCode::DataLoss, StatusCode::Aborted, StatusCode::Unavailable}) {
    auto semaphore = Semaphore::create();
    semaphore->fail(Status(code, "why"));
    EXPECT_EQ(semaphore->query().status().code(), code);
    EXPECT_EQ(semaphore->wait(1, kWaitForever).code(), code);
  }
}
TEST_F(Timeline, WaitsForAllAndAny) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint points[] = {{a, 1}, {b, 1}};
  FAILS(waitSemaphores(points, WaitMode::Any, 0), DeadlineExceeded, "waited for 1");
  OK(b->signal(1));
  OK(waitSemaphores(points, WaitMode::Any, kWaitForever));
  FAILS(waitSemaphores(points, WaitMode::All, 1000), DeadlineExceeded, "waited for 1");
  OK(a->signal(2));
  OK(waitSemaphores(points, WaitMode::All, kWaitForever));
}
TEST_F(Timeline, AFailureEndsWaitsOfSeveral) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint points[] = {{a, 1}, {b, 1}};
  std::thread other([&] {
    OK(a->signal(1));
    b->fail(makeError(StatusCode::NotFound, "lost"));
  });
  FAILS(waitSemaphores(points, WaitMode::All, kWaitForever), NotFound, "lost");
  other.join();
}
TEST_F(Timeline, WaitsForNothingForThePastAndTwice) {
  OK(waitSemaphores({}, WaitMode::Any, kWaitForever));
  OK(waitSemaphores({}, WaitMode::All, kWaitForever));
  auto semaphore = Semaphore::create(2);
  for (uint64_t value : {0, 1, 2, 2})
    OK(semaphore->wait(value, kWaitForever));
  FAILS(semaphore->wait(3, 0), DeadlineExceeded, "is at 2, waited for 3");
}
TEST_F(Timeline, SeveralThreadsWaitForALaterSignal) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint points[] = {{a, 3}, {b, 3}};
  FAILS(waitSemaphores(points, WaitMode::Any, 1), DeadlineExceeded, "waited for 3");
  std::atomic<int> reached = 0;
  std::vector<std::thread> threads;
  for (WaitMode mode : {WaitMode::All, WaitMode::All, WaitMode::Any})
    threads.emplace_back([&, mode] { reached += waitSemaphores(points, mode, kWaitForever).ok(); });
  OK(b->signal(10)); // beyond what is waited for
  OK(a->signal(3));
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(reached, 3);
}
TEST_F(Timeline, PingPongBetweenThreads) {
  auto ping = Semaphore::create(), pong = Semaphore::create();
  std::thread other([&] {
    for (uint64_t i = 1; i <= 100; ++i) {
      OK(ping->wait(i, kWaitForever));
      OK(pong->signal(i));
    }
  });
  for (uint64_t i = 1; i <= 100; ++i) {
    OK(ping->signal(i));
    OK(pong->wait(i, kWaitForever));
  }
  other.join();
}

TEST_F(Submission, WithoutCommandBuffersSignals) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint signals[] = {{a, 3}, {b, 4}};
  OK(queue->submit({}, {}, signals));
  OK(waitSemaphores(signals, WaitMode::All, kWaitForever));
}
TEST_F(Submission, WaitBeforeSignalOnOneQueue) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint first = {a, 1}, second = {b, 1};
  OK(queue->submit({&first, 1}, {}, {&second, 1}));
  FAILS(b->wait(1, 1000000), DeadlineExceeded, "waited for 1");
  OK(queue->submit({}, {}, {&first, 1}));
  OK(b->wait(1, kWaitForever));
}
TEST_F(Submission, WaitBeforeSignalAcrossQueuesAndThreads) {
  auto other = SubmissionQueue::create(device).take();
  auto a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint first = {a, 1}, second = {b, 1};
  auto buffer = zeros(4);
  OK(other->fill({&first, 1}, BufferRef::of(buffer), 2, 4, {&second, 1}));
  std::thread thread([&] { OK(queue->fill({}, BufferRef::of(buffer), 1, 4, {&first, 1})); });
  OK(b->wait(1, kWaitForever));
  thread.join();
  EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(4, 2));
}
TEST_F(Submission, AWaitEndsWheneverItsSignalIsComplete) {
  // The waiting queue looks at the signal while it is under way, complete, or in between.
  auto other = SubmissionQueue::create(device).take();
  auto first = Semaphore::create(), second = Semaphore::create();
  auto buffer = zeros(4);
  for (uint64_t i = 1; i <= 1000; ++i) {
    const SemaphorePoint middle = {first, i}, last = {second, i};
    OK(other->submit({&middle, 1}, {}, {&last, 1}));
    OK(queue->fill({}, BufferRef::of(buffer), 1, 4, {&middle, 1}));
    OK(second->wait(i, 10'000'000'000));
  }
}
TEST_F(Submission, FansOutAndIn) {
  auto start = Semaphore::create();
  const SemaphorePoint gate = {start, 1};
  std::vector<SemaphorePoint> done;
  auto buffer = zeros(8);
  for (uint32_t i = 0; i < 8; ++i) {
    done.push_back({Semaphore::create(), 1});
    OK(queue->fill({&gate, 1}, BufferRef::of(buffer, i * 4, 4), i, 4, {&done.back(), 1}));
  }
  auto end = Semaphore::create();
  const SemaphorePoint last = {end, 1};
  OK(queue->submit(done, {}, {&last, 1}));
  OK(start->signal(1));
  OK(end->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), numbers(8));
}
TEST_F(Submission, OneSignalForSeveralQueues) {
  auto second = SubmissionQueue::create(device).take(), third = SubmissionQueue::create(device).take();
  auto gate = Semaphore::create(), a = Semaphore::create(), b = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, ends[] = {{a, 1}, {b, 1}};
  auto buffer = zeros(2);
  OK(second->fill({&wait, 1}, BufferRef::of(buffer, 0, 4), 1, 4, {&ends[0], 1}));
  OK(third->fill({&wait, 1}, BufferRef::of(buffer, 4, 4), 2, 4, {&ends[1], 1}));
  OK(queue->submit({}, {}, {&wait, 1}));
  OK(waitSemaphores(ends, WaitMode::All, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), (std::vector<uint32_t>{1, 2}));
}
TEST_F(Submission, WaitsForTheHostAndAnotherSubmission) {
  auto device = Semaphore::create(), host = Semaphore::create(), end = Semaphore::create();
  const SemaphorePoint waits[] = {{device, 1}, {host, 1}}, last = {end, 1};
  OK(queue->submit(waits, {}, {&last, 1}));
  OK(queue->submit({}, {}, {&waits[0], 1}));
  OK(device->wait(1, kWaitForever));
  EXPECT_EQ(*end->query(), 0u);
  std::thread thread([&] { OK(host->signal(1)); });
  OK(end->wait(1, kWaitForever));
  thread.join();
}
TEST_F(Submission, TheHostWaitsForBothOrEither) {
  auto hostGate = Semaphore::create(), deviceGate = Semaphore::create();
  auto byHost = Semaphore::create(), byDevice = Semaphore::create();
  const SemaphorePoint gate = {deviceGate, 1}, ends[] = {{byHost, 1}, {byDevice, 1}};
  OK(queue->submit({&gate, 1}, {}, {&ends[1], 1}));
  std::thread thread([&] {
    OK(hostGate->wait(1, kWaitForever));
    OK(byHost->signal(1));
  });
  OK(deviceGate->signal(1));
  OK(waitSemaphores(ends, WaitMode::Any, kWaitForever));
  EXPECT_EQ(*byDevice->query(), 1u);
  EXPECT_EQ(*byHost->query(), 0u);
  OK(hostGate->signal(1));
  OK(waitSemaphores(ends, WaitMode::All, kWaitForever));
  thread.join();
}
TEST_F(Submission, AWaitIsReachedByAHigherValue) {
  auto timeline = Semaphore::create(), a = Semaphore::create(), b = Semaphore::create(), c = Semaphore::create();
  const SemaphorePoint one = {timeline, 1}, two = {timeline, 2}, three = {timeline, 3};
  const SemaphorePoint ends[] = {{a, 1}, {b, 1}, {c, 1}};
  OK(queue->submit({&two, 1}, {}, {&ends[1], 1}));
  OK(queue->submit({&one, 1}, {}, {&ends[0], 1}));
  OK(queue->submit({}, {}, {&three, 1}));
  OK(waitSemaphores({ends, 2}, WaitMode::All, kWaitForever));
  OK(queue->submit({&two, 1}, {}, {&ends[2], 1})); // long reached
  OK(c->wait(1, kWaitForever));
}
TEST_F(Submission, AnotherQueueSeesWhatItWaitedFor) {
  auto second = SubmissionQueue::create(device).take();
  auto written = Semaphore::create(), copied = Semaphore::create();
  auto from = zeros(1), to = zeros(1);
  for (uint32_t round = 1; round <= 30; ++round) {
    const SemaphorePoint before = {copied, round - 1}, between = {written, round}, after = {copied, round};
    OK(queue->fill({&before, 1}, BufferRef::of(from), round, 4, {&between, 1}));
    OK(second->copy({&between, 1}, BufferRef::of(from), BufferRef::of(to), {&after, 1}));
    OK(copied->wait(round, kWaitForever));
    ASSERT_EQ(download<uint32_t>(*to)[0], round);
  }
}
TEST_F(Submission, FailuresTravel) {
  auto a = Semaphore::create(), b = Semaphore::create(), c = Semaphore::create();
  const SemaphorePoint first = {a, 1}, second = {b, 1}, third = {c, 1};
  auto buffer = zeros(1);
  OK(queue->fill({&first, 1}, BufferRef::of(buffer), 9, 4, {&second, 1}));
  OK(queue->submit({&second, 1}, {}, {&third, 1}));
  a->fail(makeError(StatusCode::DataLoss, "torn"));
  FAILS(c->wait(1, kWaitForever), DataLoss, "torn");
  EXPECT_EQ(download<uint32_t>(*buffer)[0], 0u); // it did not run
}
TEST_F(Submission, ManyThreadsOneQueue) {
  constexpr uint32_t kEach = 32;
  auto buffer = zeros(4 * kEach);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kEach; ++i) {
        auto done = Semaphore::create();
        const SemaphorePoint signal = {done, 1};
        const uint32_t index = t * kEach + i;
        OK(queue->fill({}, BufferRef::of(buffer, index * 4, 4), index, 4, {&signal, 1}));
        OK(done->wait(1, kWaitForever));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(download<uint32_t>(*buffer), numbers(4 * kEach));
}
TEST_F(Submission, ResourcesOutliveTheirOwners) {
  auto out = zeros(kThreads);
  auto gate = Semaphore::create(), done = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, signal = {done, 1};
  {
    auto input = upload(numbers(kThreads));
    OK(queue->copy({&wait, 1}, BufferRef::of(input), BufferRef::of(out), {&signal, 1}));
  }
  OK(gate->signal(1));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*out), numbers(kThreads));
}
TEST_F(Submission, ADestroyedQueueLeavesNoWaitBehind) {
  auto other = SubmissionQueue::create(device).take();
  auto never = Semaphore::create(), done = Semaphore::create();
  const SemaphorePoint wait = {never, 1}, signal = {done, 1};
  OK(other->submit({&wait, 1}, {}, {&signal, 1}));
  other.reset();
  FAILS(done->wait(1, kWaitForever), Aborted, "the queue was destroyed");
}

TEST_F(HostCall, RunsBetweenDeviceWork) {
  auto buffer = zeros(1);
  uint32_t seen = 0;
  auto timeline = Semaphore::create();
  const SemaphorePoint filled = {timeline, 1}, called = {timeline, 2};
  OK(queue->fill({}, BufferRef::of(buffer), 77, 4, {&filled, 1}));
  OK(queue->hostCall({&filled, 1},
                     [&] {
                       seen = download<uint32_t>(*buffer)[0];
                       return okStatus();
                     },
                     {&called, 1}));
  OK(timeline->wait(2, kWaitForever));
  EXPECT_EQ(seen, 77u);
}
TEST_F(HostCall, MaySubmitAndFinishLater) {
  auto timeline = Semaphore::create();
  auto buffer = zeros(1);
  const SemaphorePoint later = {timeline, 1};
  OK(queue->hostCall({}, [&] { return queue->fill({}, BufferRef::of(buffer), 5, 4, {&later, 1}); }, {}));
  OK(timeline->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer)[0], 5u);
}
TEST_F(HostCall, ItsErrorIsTheSignals) {
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->hostCall({}, [] { return makeError(StatusCode::ResourceExhausted, "full"); }, {&signal, 1}));
  FAILS(done->wait(1, kWaitForever), ResourceExhausted, "full");
}

TEST_F(QueueMemory, WaitsCyclesAndChains) {
  auto timeline = Semaphore::create();
  std::shared_ptr<Buffer> last;
  for (uint64_t i = 0; i < 16; ++i) {
    const SemaphorePoint points[] = {
        {timeline, 4 * i}, {timeline, 4 * i + 1}, {timeline, 4 * i + 2}, {timeline, 4 * i + 4}};
    last = queue->allocate({&points[0], 1}, 4096, {}, {&points[1], 1}).take();
    OK(queue->fill({&points[1], 1}, BufferRef::of(last), static_cast<uint32_t>(i), 4, {&points[2], 1}));
    OK(queue->deallocate({&points[2], 1}, last, {&points[3], 1}));
  }
  OK(timeline->wait(64, kWaitForever));
  FAILS(queue->fill({}, BufferRef::of(last), 0, 4, {}), FailedPrecondition, "deallocated");
}
TEST_F(QueueMemory, KnowsItsBufferAtOnce) {
  auto gate = Semaphore::create(), there = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, signal = {there, 1};
  auto memory = queue->allocate({&wait, 1}, 4096, {}, {&signal, 1}).take();
  EXPECT_EQ(memory->size(), 4096u);
  EXPECT_NE(memory->address(), 0u);
  EXPECT_EQ(memory->options().access, kAccessAll);
  EXPECT_EQ(*there->query(), 0u);
  OK(gate->signal(1));
  OK(there->wait(1, kWaitForever));
}
TEST_F(QueueMemory, ADeallocationIsOrderedByItsWaits) {
  auto timeline = Semaphore::create();
  const SemaphorePoint used = {timeline, 1}, gone = {timeline, 2};
  auto memory = queue->allocate({}, 4096, {}, {}).take();
  OK(queue->waitIdle(kWaitForever));
  OK(queue->deallocate({&used, 1}, memory, {&gone, 1}));
  OK(queue->fill({}, BufferRef::of(memory), 1, 4, {&used, 1})); // submitted behind it, ordered before it
  OK(timeline->wait(2, kWaitForever));
  FAILS(queue->fill({}, BufferRef::of(memory), 1, 4, {}), FailedPrecondition, "deallocated");
  FAILS(queue->deallocate({}, memory, {}), FailedPrecondition, "deallocated before");
}
TEST_F(QueueMemory, AnyQueueOfTheDeviceReturnsIt) {
  auto other = SubmissionQueue::create(device).take();
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, filled = {timeline, 2}, gone = {timeline, 3};
  auto memory = queue->allocate({}, 4096, {}, {&there, 1}).take();
  OK(queue->fill({&there, 1}, BufferRef::of(memory), 1, 4, {&filled, 1}));
  OK(other->deallocate({&filled, 1}, memory, {&gone, 1}));
  OK(timeline->wait(3, kWaitForever));
  FAILS(queue->fill({}, BufferRef::of(memory), 1, 4, {}), FailedPrecondition, "deallocated");
}
TEST_F(QueueMemory, ChecksWhatItIsFor) {
  FAILS(queue->allocate({}, 64, {.access = 0}, {}).status(), InvalidArgument, "access is 0");
  FAILS(queue->allocate({}, 64, {.usage = 0}, {}).status(), InvalidArgument, "usage is 0");
  FAILS(queue->allocate({}, 64, {.usage = kUsageMapping}, {}).status(), InvalidArgument, "cannot be mapped");
  FAILS(queue->allocate({}, 64, {}, {})->get()->map(0, 1, kAccessRead).status(), FailedPrecondition,
        "cannot be mapped");
}
TEST_F(QueueMemory, OutOfMemoryIsAnError) {
  FAILS(queue->allocate({}, uint64_t(1) << 50, {}, {}).status(), ResourceExhausted, "1125899906842624 bytes");
  EXPECT_TRUE(queue->allocate({}, 64, {}, {}).ok());
}

} // namespace tenon::conformance
