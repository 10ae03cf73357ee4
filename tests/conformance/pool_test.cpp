// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools that allocations name: whose memory they get, when it is used again, and what happens where there is none.
#include "fixture.h"

#include "runtime/memory/block_pool.h"
#include "runtime/memory/driver_pool.h"
#include "runtime/memory/range_pool.h"

namespace tenon::conformance {

class Pools : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device)
      other = SubmissionQueue::create(device).take();
  }
  void TearDown() override {
    other.reset();
    DeviceTest::TearDown();
  }
  std::shared_ptr<Pool> blocks(uint64_t count) {
    return BlockPool::create(device, {.blockBytes = kBytes, .blocksPerSlab = 1, .limitBytes = count * kBytes}).take();
  }
  std::shared_ptr<Pool> ranges(uint64_t limit = 0) {
    return RangePool::create(device, {.slabBytes = 1 << 20, .limitBytes = limit}).take();
  }
  std::vector<std::shared_ptr<Pool>> all() {
    std::vector<std::shared_ptr<Pool>> pools = {blocks(8), ranges()};
    if (auto driver = DriverPool::create(device, {}); driver.ok())
      pools.push_back(driver.take());
    else
      EXPECT_EQ(driver.status().code(), StatusCode::Unimplemented) << driver.status().toString();
    return pools;
  }
  /// Allocates, fills, copies out and deallocates on a queue: nobody waits in between.
  void useOnce(SubmissionQueue &on, const std::shared_ptr<Pool> &pool, uint32_t value, const BufferRef &out,
               std::vector<SemaphorePoint> &ends) {
    auto timeline = Semaphore::create();
    const SemaphorePoint there = {timeline, 1}, filled = {timeline, 2}, copied = {timeline, 3}, gone = {timeline, 4};
    auto memory = on.allocateFrom({}, pool, kBytes, {.wait = true}, {&there, 1});
    ASSERT_TRUE(memory.ok()) << memory.status().toString();
    OK(on.fill({&there, 1}, BufferRef::of(*memory), value, 4, {&filled, 1}));
    OK(on.copy({&filled, 1}, BufferRef::of(*memory), out, {&copied, 1}));
    OK(on.deallocate({&copied, 1}, *memory, {&gone, 1}));
    ends.push_back(gone);
  }

  static constexpr uint64_t kBytes = 256 << 10;
  std::shared_ptr<SubmissionQueue> other;
};

TEST_F(Pools, AllocateAndDeallocate) {
  for (const auto &pool : all()) {
    auto out = allocate(kBytes);
    std::vector<SemaphorePoint> ends;
    for (uint32_t value : {3u, 4u, 5u}) {
      useOnce(*queue, pool, value, BufferRef::of(out), ends);
      OK(ends.back().semaphore->wait(4, kWaitForever));
      EXPECT_EQ(download<uint32_t>(*out), std::vector<uint32_t>(kBytes / 4, value));
    }
    const PoolStatistics now = pool->statistics();
    EXPECT_EQ(now.live, 0u) << pool->name();
    EXPECT_EQ(now.bytesLive, 0u);
    EXPECT_EQ(now.bytesPeak, kBytes);
    EXPECT_EQ(now.allocations, 3u);
    OK(pool->trim());
  }
}
TEST_F(Pools, AddressesAreAlignedAndApart) {
  auto pool = ranges();
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (uint64_t alignment : {256, 512, 4096, 65536})
    for (uint64_t bytes : {1, 300, 70000}) {
      auto made = queue->allocateFrom({}, pool, bytes, {.alignment = alignment}, {});
      ASSERT_TRUE(made.ok()) << made.status().toString();
      EXPECT_EQ((*made)->address() % alignment, 0u);
      for (const auto &before : buffers)
        EXPECT_TRUE((*made)->address() >= before->address() + before->size() ||
                    before->address() >= (*made)->address() + bytes);
      buffers.push_back(made.take());
    }
}
// The block that one queue returns while its work is still to come is another queue's at once: its stream waits there.
TEST_F(Pools, BlocksCrossQueuesBehindTheirFrontier) {
  auto pool = blocks(1);
  constexpr uint32_t kTurns = 20;
  auto out = allocate(kTurns * kBytes);
  std::vector<SemaphorePoint> ends;
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    useOnce(turn % 2 ? *queue : *other, pool, turn, BufferRef::of(out, turn * kBytes, kBytes), ends);
  OK(waitSemaphores(ends, WaitMode::All, kWaitForever));
  const std::vector<uint32_t> found = download<uint32_t>(*out);
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (uint64_t i = 0; i < kBytes / 4; ++i)
      ASSERT_EQ(found[turn * kBytes / 4 + i], turn);
}
TEST_F(Pools, RangesCrossQueuesBehindTheirFrontier) {
  auto pool = ranges(1 << 20); // four at once
  constexpr uint32_t kTurns = 40;
  auto out = allocate(kTurns * kBytes);
  std::vector<SemaphorePoint> ends;
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    useOnce(turn % 3 ? *queue : *other, pool, turn, BufferRef::of(out, turn * kBytes, kBytes), ends);
  OK(waitSemaphores(ends, WaitMode::All, kWaitForever));
  const std::vector<uint32_t> found = download<uint32_t>(*out);
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (uint64_t i = 0; i < kBytes / 4; ++i)
      ASSERT_EQ(found[turn * kBytes / 4 + i], turn);
}
TEST_F(Pools, AnExhaustedPoolFailsOrIsWaitedFor) {
  auto pool = blocks(1);
  auto first = queue->allocateFrom({}, pool, kBytes, {}, {}).take();
  FAILS(other->allocateFrom({}, pool, kBytes, {}, {}).status(), ResourceExhausted,
        concat(kBytes, " bytes (at a multiple of 256) were asked for; 0 are free"));
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, scaled = {timeline, 3}, used = {Semaphore::create(), 1};
  auto second = other->allocateFrom({}, pool, kBytes, {.wait = true}, {&there, 1}).take();
  // Work may name it before it has an address.
  const SemaphorePoint numbered = {timeline, 2};
  OK(other->dispatch({&there, 1}, executable, kIota, {1, 1, 1}, {{BufferRef::of(second)}, {kThreads}}, {&numbered, 1}));
  OK(other->dispatch({&numbered, 1}, executable, kScale, {1, 1, 1}, {{BufferRef::of(second)}, {kThreads, 2}},
                     {&scaled, 1}));
  OK(queue->fill({}, BufferRef::of(first), 9, 4, {&used, 1}));
  FAILS(timeline->wait(1, 20'000'000), DeadlineExceeded, "is at 0");
  EXPECT_EQ(pool->statistics().waiting, 1u);
  const uint64_t address = first->address();
  OK(queue->deallocate({&used, 1}, first, {}));
  OK(timeline->wait(3, kWaitForever));
  EXPECT_EQ(second->address(), address);
  std::vector<uint32_t> values = download<uint32_t>(*second);
  values.resize(kThreads);
  std::vector<uint32_t> wanted = numbers(kThreads);
  for (uint32_t &value : wanted)
    value *= 2;
  EXPECT_EQ(values, wanted);
}
TEST_F(Pools, ManyWaitAndEachIsServed) {
  for (const auto &pool : {blocks(2), ranges(1 << 20)}) {
    auto out = allocate(kBytes);
    std::vector<SemaphorePoint> ends;
    for (uint32_t i = 0; i < 50; ++i)
      useOnce(i % 2 ? *queue : *other, pool, i, BufferRef::of(out), ends);
    OK(waitSemaphores(ends, WaitMode::All, kWaitForever));
    EXPECT_EQ(pool->statistics().live, 0u);
    EXPECT_EQ(pool->statistics().allocations, 50u);
  }
}
TEST_F(Pools, TheDevicesLimitHolds) {
  device->setMemoryLimit(device->deviceBytesLive() + kBytes);
  auto pool = blocks(4);
  auto first = queue->allocateFrom({}, pool, 1, {}, {});
  EXPECT_TRUE(first.ok()) << first.status().toString();
  FAILS(queue->allocateFrom({}, pool, 1, {}, {}).status(), ResourceExhausted, "of the limit of");
  FAILS(allocateBuffer(*device, 4096, {}).status(), ResourceExhausted, "4096 bytes were asked for");
  device->setMemoryLimit(0);
  EXPECT_TRUE(queue->allocateFrom({}, pool, 1, {}, {}).ok());
}
TEST_F(Pools, OutOfTheDevicesMemoryIsExplained) {
  auto pool = RangePool::create(device, {}).take();
  FAILS(queue->allocateFrom({}, pool, uint64_t(1) << 50, {}, {}).status(), ResourceExhausted,
        "1125899906842624 bytes (at a multiple of 256) were asked for");
  EXPECT_TRUE(queue->allocateFrom({}, pool, 1024, {}, {}).ok());
}

} // namespace tenon::conformance
