// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills, updates and copies as submissions of a queue; the same commands on memory in stream order; files through
// host memory.
#include "fixture.h"

namespace tenon::conformance {

using QueueTransfer = DeviceTest;
CONFORMANCE_SUITE(Transient);

TEST_F(QueueTransfer, ChainsFillUpdateCopy) {
  auto a = zeros(8), b = zeros(8);
  auto timeline = Semaphore::create();
  const SemaphorePoint points[] = {{timeline, 1}, {timeline, 2}, {timeline, 3}};
  const uint32_t word = 7;
  OK(queue->fill({}, BufferRef::of(a), 5, 4, {&points[0], 1}));
  OK(queue->update({&points[0], 1}, {reinterpret_cast<const uint8_t *>(&word), 4}, BufferRef::of(a, 4, 4),
                   {&points[1], 1}));
  OK(queue->copy({&points[1], 1}, BufferRef::of(a, 0, 16), BufferRef::of(b, 16, 16), {&points[2], 1}));
  OK(timeline->wait(3, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*b), (std::vector<uint32_t>{0, 0, 0, 0, 5, 7, 5, 5}));
}
TEST_F(QueueTransfer, Large) {
  constexpr uint64_t kBytes = uint64_t(8) << 20;
  auto a = allocate(kBytes), b = allocate(kBytes);
  auto timeline = Semaphore::create();
  const SemaphorePoint first = {timeline, 1}, second = {timeline, 2};
  OK(queue->fill({}, BufferRef::of(a), 0xa5, 1, {&first, 1}));
  OK(queue->copy({&first, 1}, BufferRef::of(a), BufferRef::of(b), {&second, 1}));
  OK(timeline->wait(2, kWaitForever));
  EXPECT_EQ(download<uint8_t>(*b), std::vector<uint8_t>(kBytes, 0xa5));
}
TEST_F(QueueTransfer, Burst) {
  auto buffer = zeros(256);
  for (uint32_t i = 0; i < 256; ++i)
    OK(queue->fill({}, BufferRef::of(buffer, i * 4, 4), i, 4, {}));
  OK(queue->waitIdle(kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), numbers(256));
}

TEST_F(QueueTransfer, FillsOfEverySizeAndAlignment) {
  for (uint32_t bytes : {1u, 2u, 4u})
    for (size_t offset : {0u, 1u, 3u, 5u, 7u})
      for (size_t length : {4u, 8u, 28u, 32u, 36u, 1024u, 65536u}) {
        const size_t begin = offset * bytes, size = begin + length + 16;
        auto buffer = upload(std::vector<uint8_t>(size, 0x77));
        std::vector<uint8_t> expected(size, 0x77);
        for (size_t i = 0; i < length; ++i)
          expected[begin + i] = static_cast<uint8_t>(0xcafef00d >> (8 * (i % bytes)));
        OK(queue->fill({}, BufferRef::of(buffer, begin, length), 0xcafef00d, bytes, {}));
        OK(queue->waitIdle(kWaitForever));
        EXPECT_EQ(download<uint8_t>(*buffer), expected) << bytes << ' ' << begin << ' ' << length;
      }
}
TEST_F(QueueTransfer, UpdatesOfEverySizeAndAlignment) {
  const std::vector<uint8_t> source = noise(256);
  for (size_t from : {0u, 1u, 3u, 5u, 64u})
    for (size_t to : {0u, 1u, 4u, 32u})
      for (size_t length : {0u, 1u, 4u, 8u, 16u, 64u}) {
        auto buffer = upload(std::vector<uint8_t>(to + length + 8, 0x77));
        std::vector<uint8_t> expected(to + length + 8, 0x77);
        std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), length,
                    expected.begin() + static_cast<ptrdiff_t>(to));
        OK(queue->update({}, {source.data() + from, length}, BufferRef::of(buffer, to, length), {}));
        OK(queue->waitIdle(kWaitForever));
        EXPECT_EQ(download<uint8_t>(*buffer), expected) << from << ' ' << to << ' ' << length;
      }
}
TEST_F(QueueTransfer, CopiesOfEverySizeAndAlignment) {
  struct Offsets {
    size_t from, to;
  };
  constexpr size_t kLargest = size_t(1) << 20;
  const std::vector<uint8_t> bytes = noise(kLargest + 16);
  auto source = upload(bytes);
  for (Offsets at : {Offsets{0, 0}, {8, 8}, {4, 4}, {1, 2}, {3, 0}})
    for (size_t length : {size_t(4), size_t(8), size_t(16), size_t(31), size_t(32), size_t(33), size_t(64), size_t(128),
                          size_t(256), size_t(1024), size_t(4096), size_t(16384), size_t(65536), kLargest}) {
      auto target = upload(std::vector<uint8_t>(at.to + length + 16, 0x77));
      std::vector<uint8_t> expected(at.to + length + 16, 0x77);
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at.from), length,
                  expected.begin() + static_cast<ptrdiff_t>(at.to));
      OK(queue->copy({}, BufferRef::of(source, at.from, length), BufferRef::of(target, at.to, length), {}));
      OK(queue->waitIdle(kWaitForever));
      EXPECT_TRUE(download<uint8_t>(*target) == expected) << at.from << ' ' << at.to << ' ' << length;
    }
}
TEST_F(QueueTransfer, BurstsOfCopiesWithSemaphoresOfTheirOwn) {
  constexpr uint32_t kBytes = 4096, kCopies = 64;
  auto source = allocate(kBytes, {.memory = MemoryType::HostVisible});
  auto target = zeros(kBytes * kCopies / 4);
  for (uint8_t round = 1; round <= 8; ++round) {
    std::memset(source->map(0, kBytes, kAccessWrite)->data(), round, kBytes);
    std::vector<SemaphorePoint> done;
    for (uint32_t i = 0; i < kCopies; ++i) {
      done.push_back({Semaphore::create(), 1});
      OK(queue->copy({}, BufferRef::of(source), BufferRef::of(target, i * kBytes, kBytes), {&done.back(), 1}));
    }
    OK(waitSemaphores(done, WaitMode::All, kWaitForever));
    ASSERT_EQ(download<uint8_t>(*target), std::vector<uint8_t>(kBytes * kCopies, round));
  }
}
TEST_F(QueueTransfer, ChainsFillCopyFill) {
  auto a = zeros(64), b = zeros(64);
  auto timeline = Semaphore::create();
  const SemaphorePoint points[] = {{timeline, 1}, {timeline, 2}, {timeline, 3}};
  OK(queue->fill({}, BufferRef::of(a), 0xaa, 1, {&points[0], 1}));
  OK(queue->copy({&points[0], 1}, BufferRef::of(a), BufferRef::of(b), {&points[1], 1}));
  OK(queue->fill({&points[1], 1}, BufferRef::of(a), 0xbb, 1, {&points[2], 1}));
  OK(timeline->wait(3, kWaitForever));
  EXPECT_EQ(download<uint8_t>(*a), std::vector<uint8_t>(256, 0xbb));
  EXPECT_EQ(download<uint8_t>(*b), std::vector<uint8_t>(256, 0xaa));
}
TEST_F(QueueTransfer, AnEmptySubmissionIsABarrier) {
  auto a = zeros(64), b = zeros(64);
  auto filled = Semaphore::create(), passed = Semaphore::create(), copied = Semaphore::create();
  const SemaphorePoint points[] = {{filled, 1}, {passed, 1}, {copied, 1}};
  OK(queue->copy({&points[1], 1}, BufferRef::of(a), BufferRef::of(b), {&points[2], 1}));
  OK(queue->submit({&points[0], 1}, {}, {&points[1], 1}));
  OK(queue->fill({}, BufferRef::of(a), 0xcafef00d, 4, {&points[0], 1}));
  OK(copied->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*b), std::vector<uint32_t>(64, 0xcafef00d));
}
TEST_F(QueueTransfer, RefusesRangesAndSignalsNothing) {
  auto buffer = zeros(4);
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  const std::vector<uint8_t> data(8);
  FAILS(queue->fill({}, BufferRef::of(buffer, 8, 12), 1, 4, {&signal, 1}), OutOfRange, "12 bytes from byte 8");
  FAILS(queue->update({}, data, BufferRef::of(buffer, 12, 8), {&signal, 1}), OutOfRange, "8 bytes from byte 12");
  FAILS(queue->copy({}, BufferRef::of(buffer, 0, 17), BufferRef::of(zeros(8)), {&signal, 1}), OutOfRange, "17 bytes");
  OK(queue->waitIdle(kWaitForever));
  EXPECT_EQ(*done->query(), 0u);
}
// What a file in memory is elsewhere: host memory that is imported, read and written in the queue's order.
TEST_F(QueueTransfer, ImportedHostMemoryIsReadAndWritten) {
  alignas(4096) static uint8_t input[4096], output[4096];
  const std::vector<uint8_t> data = noise(sizeof(input));
  std::copy(data.begin(), data.end(), input);
  std::fill(std::begin(output), std::end(output), uint8_t(0x77));
  auto from = importHostMemory(*device, input, sizeof(input), {.access = kAccessRead}, {}).take();
  auto to = importHostMemory(*device, output, sizeof(output), {}, {}).take();
  auto buffer = zeros(1024);
  auto timeline = Semaphore::create();
  const SemaphorePoint points[] = {{timeline, 1}, {timeline, 2}, {timeline, 3}, {timeline, 4}};
  OK(queue->copy({}, BufferRef::of(from), BufferRef::of(buffer), {&points[0], 1}));
  OK(queue->copy({&points[0], 1}, BufferRef::of(from, 128, 256), BufferRef::of(buffer, 64, 256), {&points[1], 1}));
  OK(queue->fill({&points[1], 1}, BufferRef::of(buffer, 2048, 1024), 0xff, 1, {&points[2], 1}));
  OK(queue->copy({&points[2], 1}, BufferRef::of(buffer, 0, 4000), BufferRef::of(to, 64, 4000), {&points[3], 1}));
  OK(timeline->wait(4, kWaitForever));
  std::vector<uint8_t> expected = data;
  std::copy_n(data.begin() + 128, 256, expected.begin() + 64);
  std::fill_n(expected.begin() + 2048, 1024, uint8_t(0xff));
  EXPECT_TRUE(std::equal(output + 64, output + 4064, expected.begin()));
  EXPECT_EQ(std::count(output, output + 64, 0x77), 64);
  EXPECT_EQ(std::count(output + 4064, output + 4096, 0x77), 32);
  FAILS(queue->fill({}, BufferRef::of(from), 1, 4, {}), FailedPrecondition, "read only");
}

TEST_P(Transient, FillsUpdatesAndCopies) {
  auto gate = Semaphore::create();
  const SemaphorePoint there = {gate, 1};
  auto memory = queue->allocate({}, 1024, {}, {&there, 1}).take();
  OK(gate->wait(1, kWaitForever));
  const std::vector<uint8_t> data = noise(64);
  auto source = upload(noise(512)), out = zeros(256);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(memory), 0xdeadcafe, 4));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(memory, 65, 127), 0xab, 1));
    TENON_RETURN_IF_ERROR(c.update(data, BufferRef::of(memory, 256, 64)));
    TENON_RETURN_IF_ERROR(c.copy(BufferRef::of(source), BufferRef::of(memory, 512, 512)));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.copy(BufferRef::of(memory), BufferRef::of(out));
  }));
  std::vector<uint8_t> expected(1024);
  for (size_t i = 0; i < 1024; ++i)
    expected[i] = static_cast<uint8_t>(0xdeadcafe >> (8 * (i % 4)));
  std::fill_n(expected.begin() + 65, 127, uint8_t(0xab));
  std::copy(data.begin(), data.end(), expected.begin() + 256);
  const std::vector<uint8_t> copied = noise(512);
  std::copy(copied.begin(), copied.end(), expected.begin() + 512);
  EXPECT_EQ(download<uint8_t>(*out), expected);
  EXPECT_EQ(download<uint8_t>(*memory), expected);
  OK(queue->deallocate({}, memory, {}));
}
TEST_P(Transient, RecordedAndSubmittedBeforeItIsThere) {
  auto gate = Semaphore::create(), timeline = Semaphore::create();
  const SemaphorePoint open = {gate, 1}, there = {timeline, 1}, done = {timeline, 2};
  auto memory = queue->allocate({&open, 1}, 256, {}, {&there, 1}).take();
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(memory, 0, 128), 0xa55a1337, 4));
        return c.fill(BufferRef::ofSlot(0, 128, 128), 0x5aa5c0de, 4);
      },
      {.slotCount = 1});
  const std::vector<TableEntry> table = {{memory}};
  const BoundCommandBuffer bound = {commands, table};
  OK(queue->submit({&there, 1}, {&bound, 1}, {&done, 1}));
  EXPECT_EQ(*timeline->query(), 0u);
  OK(gate->signal(1));
  OK(timeline->wait(2, kWaitForever));
  std::vector<uint32_t> expected(32, 0xa55a1337);
  expected.insert(expected.end(), 32, 0x5aa5c0de);
  EXPECT_EQ(download<uint32_t>(*memory), expected);
}

} // namespace tenon::conformance
