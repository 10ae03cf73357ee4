// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/block_pool.h"
#include "runtime/memory/driver_pool.h"
#include "runtime/memory/range_pool.h"

#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/command_buffer_fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class PoolTest : public CommandBufferFixture {
protected:
  PoolTest() {
    queue = SubmissionQueue::create(device).take();
    other = SubmissionQueue::create(device).take();
  }
  void TearDown() override {
    queue.reset();
    other.reset();
    CommandBufferFixture::TearDown();
  }
  std::shared_ptr<Pool> blocks(uint64_t count, uint64_t perSlab = 1) {
    return BlockPool::create(device,
                             {.name = "b", .blockBytes = 1000, .blocksPerSlab = perSlab, .limitBytes = count * 1024})
        .take();
  }
  std::shared_ptr<Pool> ranges(uint64_t limit) {
    return RangePool::create(device, {.name = "r", .slabBytes = 4096, .limitBytes = limit}).take();
  }
  std::shared_ptr<Buffer> get(const std::shared_ptr<Pool> &pool, uint64_t bytes, uint64_t alignment = 256) {
    auto made = queue->allocateFrom({}, pool, bytes, {.alignment = alignment}, {});
    EXPECT_TRUE(made.ok()) << made.status().message();
    EXPECT_TRUE(queue->waitIdle(kWaitForever).ok()); // nobody else has it then
    return made.ok() ? made.take() : nullptr;
  }
  Status failed(const std::shared_ptr<Pool> &pool, uint64_t bytes, const PoolRequest &request = {}) {
    return queue->allocateFrom({}, pool, bytes, request, {}).status().clone();
  }
  /// Deallocates on a queue and waits.
  void put(SubmissionQueue &on, std::shared_ptr<Buffer> memory) {
    const SemaphorePoint gone = {Semaphore::create(), 1};
    ASSERT_OK(on.deallocate({}, std::move(memory), {&gone, 1}));
    ASSERT_OK(gone.semaphore->wait(1, kWaitForever));
  }
  std::shared_ptr<SubmissionQueue> queue, other;
};

TEST_F(PoolTest, BlocksAreCutFromSlabs) {
  auto pool = blocks(4, 2);
  auto a = get(pool, 1), b = get(pool, 1000), c = get(pool, 0);
  EXPECT_EQ(b->address(), a->address() + 1024);
  EXPECT_NE(c->address(), 0u);
  EXPECT_EQ(fake.count("cuMemAlloc_v2"), 3u); // two slabs, and the fixture's buffer
  PoolStatistics now = pool->statistics();
  EXPECT_EQ(now.live, 3u);
  EXPECT_EQ(now.bytesLive, 1001u);
  EXPECT_EQ(now.bytesReserved, 4096u);
  EXPECT_EQ(now.bytesFree, 1024u);
  a.reset(), b.reset();
  now = pool->statistics();
  EXPECT_EQ(now.live, 1u);
  EXPECT_EQ(now.bytesPeak, 1001u);
  ASSERT_OK(pool->trim());
  EXPECT_EQ(pool->statistics().bytesReserved, 2048u);
  EXPECT_EQ(pool->statistics().allocations, 3u);
}

TEST_F(PoolTest, ExhaustedPoolsSayWhatIsLeft) {
  auto pool = blocks(2);
  auto a = get(pool, 10), b = get(pool, 20);
  EXPECT_STATUS(
      failed(pool, 30), ResourceExhausted,
      "pool 'b': out of memory: 30 bytes (at a multiple of 256) were asked for; 0 are free, the largest piece "
      "0; 2048 are reserved, 30 in 2 allocations, the limit is 2048");
  EXPECT_STATUS(failed(pool, 1025), InvalidArgument, "1025 bytes were asked for, a block has 1024");
  EXPECT_STATUS(failed(pool, 1, {.alignment = 512}), InvalidArgument, "an alignment of 512 bytes was asked for");
  EXPECT_STATUS(failed(pool, 1, {.alignment = 3}), InvalidArgument, "an alignment of 3 bytes: expected a power of two");
  auto small = ranges(8192);
  auto c = get(small, 4000), d = get(small, 2048);
  EXPECT_STATUS(failed(small, 4096), ResourceExhausted, "2048 are free, the largest piece 2048; 8192 are reserved");
  EXPECT_STATUS(failed(small, 8193), ResourceExhausted,
                "8193 bytes (at a multiple of 256) were asked for, the limit is 8192");
}

TEST_F(PoolTest, RangesHaveTheirAlignment) {
  auto pool = ranges(0);
  auto a = get(pool, 1), b = get(pool, 300, 1024), c = get(pool, 5000, 4096);
  EXPECT_EQ(b->address() % 1024, 0u);
  EXPECT_EQ(c->address() % 4096, 0u);
  EXPECT_EQ(pool->statistics().live, 3u);
  a.reset(), b.reset(), c.reset();
  const PoolStatistics now = pool->statistics();
  EXPECT_EQ(now.bytesFree, now.bytesReserved);
  ASSERT_OK(pool->trim());
  EXPECT_EQ(pool->statistics().bytesReserved, 0u);
  EXPECT_EQ(fake.liveAllocations, 1);
}

TEST_F(PoolTest, SlabsThatNobodyUsesMakeRoom) {
  auto pool = ranges(8192);
  get(pool, 4096), get(pool, 4096); // the temporaries go back
  auto large = get(pool, 8192);
  ASSERT_TRUE(large);
  EXPECT_EQ(pool->statistics().bytesReserved, 8192u);
}

TEST_F(PoolTest, AnotherStreamWaitsForTheFrontier) {
  auto pool = blocks(1);
  // The fake's streams are one; so are the streams of the two queues. Their handles are what a frontier knows.
  FreePoint last;
  auto taken = pool->take(reinterpret_cast<CUstream>(1), 8, 256, {}).take();
  GpuEventPool events(device);
  last = {reinterpret_cast<CUstream>(1), events.acquire().take(), 1};
  pool->giveBack(taken->address, last);
  auto again = pool->take(reinterpret_cast<CUstream>(2), 8, 256, {}).take();
  ASSERT_EQ(again->frontier.size(), 1u);
  EXPECT_EQ(again->frontier[0].event, last.event);
  // Returned before its stream has passed the frontier: the next one waits for both.
  auto second = events.acquire().take();
  pool->giveBack(again->address, {reinterpret_cast<CUstream>(2), second, 2});
  again = pool->take(reinterpret_cast<CUstream>(3), 8, 256, {}).take();
  EXPECT_EQ(again->frontier.size(), 2u);
  pool->settle(again->address, again->serial - 1); // of somebody before
  pool->settle(again->address, again->serial);
  pool->giveBack(again->address, {});
  EXPECT_TRUE(pool->take(nullptr, 8, 256, {}).take()->frontier.empty());
}

TEST_F(PoolTest, QueuesReuseWhatWasDeallocated) {
  for (const auto &pool : {blocks(1), ranges(4096)}) {
    auto memory = get(pool, 1000);
    const uint64_t address = memory->address();
    put(*queue, memory);
    EXPECT_TRUE(memory->isRetired());
    EXPECT_STATUS(queue->deallocate({}, memory, {}), FailedPrecondition, "was deallocated before");
    auto again = other->allocateFrom({}, pool, 1000, {}, {}).take();
    EXPECT_EQ(again->address(), address);
    memory.reset(); // it owns nothing any more
    EXPECT_EQ(pool->statistics().live, 1u);
  }
}

TEST_F(PoolTest, AllocationsWaitForMemory) {
  auto pool = blocks(1);
  auto first = get(pool, 64);
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, filled = {timeline, 2};
  auto second = other->allocateFrom({}, pool, 64, {.wait = true}, {&there, 1}).take();
  EXPECT_EQ(second->address(), 0u);
  EXPECT_EQ(pool->statistics().waiting, 1u);
  // Recorded before there is an address; a copy within what has none yet is told apart by the buffer.
  ASSERT_OK(other->fill({&there, 1}, BufferRef::of(second), 7, 4, {&filled, 1}));
  EXPECT_STATUS(timeline->wait(1, 1000000), DeadlineExceeded, "is at 0");
  put(*queue, first);
  ASSERT_OK(timeline->wait(2, kWaitForever));
  EXPECT_NE(second->address(), 0u);
  EXPECT_EQ(*reinterpret_cast<const uint32_t *>(second->address()), 7u);
  EXPECT_EQ(pool->statistics().waiting, 0u);
  // Nothing would ever be returned.
  second.reset();
  auto empty = ranges(4096);
  fake.failures["cuMemAlloc_v2"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(failed(empty, 64, {.wait = true}), ResourceExhausted, "cuMemAlloc_v2 of 4096 bytes");
  fake.failures.clear();
}

TEST_F(PoolTest, ARecordingMayNameMemoryThatComesLater) {
  for (bool graph : {false, true}) {
    isGraph = graph;
    begin();
    auto pool = blocks(1);
    auto first = get(pool, 64);
    const SemaphorePoint there = {Semaphore::create(), 1}, done = {Semaphore::create(), 1};
    auto late = queue->allocateFrom({}, pool, 64, {.wait = true}, {&there, 1}).take();
    ASSERT_OK(commands->fill(BufferRef::of(late, 0, 32), 3, 4));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->copy(BufferRef::of(late, 0, 32), BufferRef::of(late, 32, 32)));
    EXPECT_STATUS(commands->copy(BufferRef::of(late, 0, 32), BufferRef::of(late, 16, 32)), InvalidArgument, "overlap");
    ASSERT_OK(commands->end());
    const BoundCommandBuffer bound = {commands};
    // Not ordered behind the allocation.
    const SemaphorePoint early = {Semaphore::create(), 1};
    ASSERT_OK(other->submit({}, {&bound, 1}, {&early, 1}));
    EXPECT_STATUS(early.semaphore->wait(1, kWaitForever), FailedPrecondition, "whose memory is not there yet");
    ASSERT_OK(other->submit({&there, 1}, {&bound, 1}, {&done, 1}));
    put(*queue, first);
    ASSERT_OK(done.semaphore->wait(1, kWaitForever));
    EXPECT_EQ(reinterpret_cast<const uint32_t *>(late->address())[15], 3u);
  }
}

TEST_F(PoolTest, ADestroyedQueueWaitsNoLonger) {
  auto pool = blocks(1);
  auto first = get(pool, 64);
  const SemaphorePoint there = {Semaphore::create(), 1};
  auto late = other->allocateFrom({}, pool, 64, {.wait = true}, {&there, 1}).take();
  other.reset();
  EXPECT_STATUS(there.semaphore->wait(1, kWaitForever), Aborted, "the queue was destroyed");
  late.reset();
  first.reset(); // wakes nobody who is there
  EXPECT_EQ(pool->statistics().live, 0u);
}

TEST_F(PoolTest, FailuresOfTheDriverLeaveNothing) {
  auto pool = blocks(1);
  fake.failures["cuMemAlloc_v2"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(failed(pool, 8), ResourceExhausted, "cuMemAlloc_v2 of 1024 bytes");
  fake.failures = {{"cuMemAlloc_v2", CUDA_ERROR_ILLEGAL_ADDRESS}};
  EXPECT_STATUS(failed(pool, 8), Aborted, "cuMemAlloc_v2 of 1024 bytes");
  fake.failures.clear();
  EXPECT_EQ(pool->statistics().live, 0u);
  EXPECT_TRUE(get(pool, 8));
  // The event behind the deallocation: returned all the same, when the stream was waited for.
  auto memory = get(pool, 8);
  fake.failures = {{"cuEventRecord", CUDA_ERROR_OUT_OF_MEMORY}};
  const SemaphorePoint gone = {Semaphore::create(), 1};
  ASSERT_OK(queue->deallocate({}, memory, {&gone, 1}));
  EXPECT_STATUS(gone.semaphore->wait(1, kWaitForever), ResourceExhausted, "cuEventRecord");
  fake.failures.clear();
  ASSERT_OK(queue->waitIdle(kWaitForever));
  EXPECT_EQ(pool->statistics().live, 0u);
}

TEST_F(PoolTest, DriverPoolsAreTheDrivers) {
  auto pool = DriverPool::create(device, {.name = "d", .limitBytes = 1000, .releaseThreshold = 4096}).take();
  auto memory = get(pool, 600);
  EXPECT_EQ(fake.count("cuMemAllocFromPoolAsync"), 1u);
  EXPECT_STATUS(failed(pool, 600), ResourceExhausted, "600 are reserved, 600 in 1 allocations, the limit is 1000");
  EXPECT_STATUS(failed(pool, 1001), ResourceExhausted, "1001 bytes were asked for, the limit is 1000");
  put(*queue, memory);
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 1u);
  EXPECT_TRUE(get(pool, 1000));
  ASSERT_OK(pool->trim());
  EXPECT_EQ(fake.count("cuMemPoolTrimTo"), 1u);
  fake.failures = {{"cuMemPoolSetAttribute", CUDA_ERROR_OUT_OF_MEMORY}};
  EXPECT_STATUS(DriverPool::create(device, {}).status(), ResourceExhausted, "cuMemPoolSetAttribute");
  EXPECT_EQ(fake.livePools, 1);
  fake.failures.clear();
  memory.reset(); // a buffer keeps its pool, also when it was deallocated
  pool.reset();
  EXPECT_EQ(fake.livePools, 0);
}

TEST_F(PoolTest, RefusesWhatIsNoPool) {
  EXPECT_STATUS(BlockPool::create(device, {}).status(), InvalidArgument, "16 blocks of 0 bytes");
  EXPECT_STATUS(BlockPool::create(device, {.blockBytes = 100, .limitBytes = 100}).status(), InvalidArgument,
                "the limit of 100 bytes is below one slab");
  EXPECT_STATUS(RangePool::create(device, {.alignment = 24}).status(), InvalidArgument, "an alignment of 24 bytes");
  EXPECT_STATUS(failed(nullptr, 8), InvalidArgument, "no pool");
  EXPECT_STATUS(failed(blocks(1), 8, {.buffer = {.memory = MemoryType::HostVisible}}), InvalidArgument,
                "only device memory");
}

TEST_F(PoolTest, TheDeviceHasALimitToo) {
  const uint64_t live = device->statistics().bytesLive;
  device->setMemoryLimit(live + 1500);
  auto pool = blocks(4);
  auto a = get(pool, 8);
  EXPECT_STATUS(failed(pool, 8), ResourceExhausted,
                concat("1024 bytes were asked for, ", live + 1024, " of the limit of ", live + 1500, " bytes"));
  EXPECT_STATUS(allocateBuffer(*device, 477, {}).status(), ResourceExhausted, "of the limit of");
  auto b = allocateBuffer(*device, 476, {});
  ASSERT_OK(b.status());
  EXPECT_STATUS(queue->allocate({}, 1, {}, {}).status(), ResourceExhausted, "1 bytes were asked for");
  EXPECT_TRUE(allocateBuffer(*device, 4096, {.memory = MemoryType::HostVisible}).ok()); // not the device's
  device->setMemoryLimit(0);
  EXPECT_TRUE(queue->allocate({}, 100000, {}, {}).ok());
}

} // namespace tenon::runtime
