// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/queue/timeline_semaphore.h"

#include "tests/unit/runtime/fixture.h"

#include <chrono>
#include <thread>

namespace tenon::runtime {

constexpr uint64_t kMillisecond = 1000000;

TEST(TimelineSemaphore, HoldsAValueThatGrows) {
  auto semaphore = Semaphore::create(3);
  EXPECT_EQ(*semaphore->query(), 3u);
  ASSERT_OK(semaphore->signal(uint64_t(1) << 40));
  EXPECT_EQ(*semaphore->query(), uint64_t(1) << 40);
  EXPECT_STATUS(semaphore->signal(7), InvalidArgument, "cannot be signalled to 7: its value only grows");
}

TEST(TimelineSemaphore, KeepsItsFirstFailure) {
  auto semaphore = Semaphore::create();
  semaphore->fail(makeError(StatusCode::ResourceExhausted, "no memory"));
  semaphore->fail(makeError(StatusCode::Internal, "later"));
  EXPECT_STATUS(semaphore->query().status(), ResourceExhausted, "no memory");
  EXPECT_STATUS(semaphore->wait(0, kWaitForever), ResourceExhausted, "no memory");
  EXPECT_STATUS(semaphore->signal(1), ResourceExhausted, "no memory");
}

TEST(TimelineSemaphore, AFailureHasAReason) {
  auto semaphore = Semaphore::create();
  semaphore->fail(okStatus());
  EXPECT_STATUS(semaphore->query().status(), Aborted, "failed without a reason");
}

TEST(TimelineSemaphore, AWaitTimesOut) {
  auto semaphore = Semaphore::create(2);
  EXPECT_STATUS(semaphore->wait(3, 0), DeadlineExceeded, "the semaphore is at 2, waited for 3");
  EXPECT_STATUS(semaphore->wait(3, kMillisecond), DeadlineExceeded, "not signalled within 1000000 ns");
  ASSERT_OK(semaphore->wait(2, 0));
}

TEST(TimelineSemaphore, AWaitComesBeforeItsSignal) {
  auto semaphore = Semaphore::create();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    semaphore->signal(4).ignore();
  });
  EXPECT_TRUE(semaphore->wait(4, kWaitForever).ok());
  other.join();
}

TEST(TimelineSemaphore, WaitsForAllOrAny) {
  auto a = Semaphore::create(), b = Semaphore::create();
  const std::vector<SemaphorePoint> points = {{a, 1}, {b, 2}};
  ASSERT_OK(waitSemaphores({}, WaitMode::All, 0));
  ASSERT_OK(a->signal(1));
  ASSERT_OK(waitSemaphores(points, WaitMode::Any, 0));
  EXPECT_STATUS(waitSemaphores(points, WaitMode::All, kMillisecond), DeadlineExceeded, "waited for 2");
  ASSERT_OK(b->signal(2));
  ASSERT_OK(waitSemaphores(points, WaitMode::All, 0));
  const std::vector<SemaphorePoint> none = {{nullptr, 1}};
  EXPECT_STATUS(waitSemaphores(none, WaitMode::All, 0), InvalidArgument, "null semaphore");
}

TEST(TimelineSemaphore, AFailureEndsAWait) {
  auto a = Semaphore::create(), b = Semaphore::create();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    b->fail(makeError(StatusCode::Aborted, "gone"));
  });
  const std::vector<SemaphorePoint> points = {{a, 1}, {b, 2}};
  EXPECT_STATUS(waitSemaphores(points, WaitMode::All, kWaitForever), Aborted, "gone");
  other.join();
}

TEST(TimelineSemaphore, CallsAnObserverOnce) {
  auto semaphore = Semaphore::create();
  int calls = 0, forgotten = 0;
  semaphore->notify(2, false, [&] { ++calls; });
  semaphore->forget(semaphore->notify(2, false, [&] { ++forgotten; }));
  ASSERT_OK(semaphore->signal(1));
  EXPECT_EQ(calls, 0);
  semaphore->advance(2);
  semaphore->advance(1); // late work leaves the higher value
  EXPECT_EQ(*semaphore->query(), 2u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(forgotten, 0);
  semaphore->notify(1, false, [&] { ++calls; });
  EXPECT_EQ(calls, 2); // at once
}

TEST(TimelineSemaphore, TimepointsAreRefusedByName) {
  auto semaphore = Semaphore::create(3);
  EXPECT_STATUS(semaphore->exportTimepoint(4, Semaphore::TimepointKind::CudaEvent), Unimplemented,
                "are not exported: value 4 as a CUDA event; wait for the value on the host");
  EXPECT_STATUS(semaphore->importTimepoint(5, Semaphore::TimepointKind::SyncFile, 7), Unimplemented,
                "are not imported: value 5 as a sync file");
  EXPECT_EQ(*semaphore->query(), 3u);
}

} // namespace tenon::runtime
