// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command buffers: states, fill, update, copy, barriers, events, stress.
#include "fixture.h"

namespace tenon::conformance {

CONFORMANCE_SUITE(Basics);
CONFORMANCE_SUITE(Fill);
CONFORMANCE_SUITE(Update);
CONFORMANCE_SUITE(Copy);
CONFORMANCE_SUITE(Events);
CONFORMANCE_SUITE(Stress);

TEST_P(Basics, SubmitsEmptyCommandBuffers) {
  OK(run([](CommandBuffer &) { return okStatus(); }));
  OK(run([](CommandBuffer &commands) { return commands.barrier(); }));
}
TEST_P(Basics, OneShotIsForOnce) {
  auto commands = record([](CommandBuffer &buffer) { return buffer.barrier(); }, {.oneShot = true});
  OK(run(commands));
  FAILS(run(commands), FailedPrecondition, "submitted before");
}
TEST_P(Basics, ReusesARecording) {
  auto buffer = upload(std::vector<uint32_t>(64, 1));
  auto commands = record(
      [&](CommandBuffer &c) { return c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {64, 3}}); });
  for (int i = 0; i < 4; ++i)
    OK(run(commands));
  EXPECT_EQ(download<uint32_t>(*buffer)[63], 81u);
}
TEST_P(Basics, RefusesUnfinishedRecordings) {
  auto commands = create();
  FAILS(commands->barrier(), FailedPrecondition, "begin it first");
  OK(commands->begin());
  FAILS(run(commands), FailedPrecondition, "was not ended");
}
TEST_P(Basics, RunsSeveralInOrder) {
  auto buffer = zeros(4);
  auto first = record([&](CommandBuffer &c) { return c.fill(BufferRef::of(buffer), 1, 4); });
  auto second = record([&](CommandBuffer &c) { return c.fill(BufferRef::of(buffer, 8), 2, 4); });
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  const BoundCommandBuffer both[] = {{first}, {second}};
  OK(queue->submit({}, both, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), (std::vector<uint32_t>{1, 1, 2, 2}));
}

/// Expected bytes of a fill of [offset, offset + length) of 0xee bytes.
std::vector<uint8_t> filled(size_t size, size_t offset, size_t length, uint32_t pattern, uint32_t bytes) {
  std::vector<uint8_t> out(size, 0xee);
  for (size_t i = 0; i < length; ++i)
    out[offset + i] = static_cast<uint8_t>(pattern >> (8 * (i % bytes)));
  return out;
}

TEST_P(Fill, EveryPatternAtEveryPlace) {
  constexpr size_t kSize = 96;
  for (uint32_t bytes : {1u, 2u, 4u})
    for (size_t offset : {0u, 4u, 20u, 92u})
      for (size_t length : {0u, 4u, 12u, 76u}) {
        if (offset + length > kSize)
          continue;
        auto buffer = upload(std::vector<uint8_t>(kSize, 0xee));
        OK(run([&](CommandBuffer &c) { return c.fill(BufferRef::of(buffer, offset, length), 0xdeadbeef, bytes); }));
        EXPECT_EQ(download<uint8_t>(*buffer), filled(kSize, offset, length, 0xdeadbeef, bytes))
            << bytes << ' ' << offset << ' ' << length;
      }
}
TEST_P(Fill, OddPlacesOfSmallPatterns) {
  auto buffer = upload(std::vector<uint8_t>(16, 0xee));
  OK(run([&](CommandBuffer &c) { return c.fill(BufferRef::of(buffer, 3, 5), 0x7f, 1); }));
  EXPECT_EQ(download<uint8_t>(*buffer), filled(16, 3, 5, 0x7f, 1));
  auto halves = upload(std::vector<uint8_t>(16, 0xee));
  OK(run([&](CommandBuffer &c) { return c.fill(BufferRef::of(halves, 6, 6), 0x1234, 2); }));
  EXPECT_EQ(download<uint8_t>(*halves), filled(16, 6, 6, 0x1234, 2));
}
TEST_P(Fill, RefusesWhatDoesNotFit) {
  auto buffer = allocate(16);
  auto commands = create();
  OK(commands->begin());
  FAILS(commands->fill(BufferRef::of(buffer), 0, 3), InvalidArgument, "1, 2 and 4");
  FAILS(commands->fill(BufferRef::of(buffer, 2), 0, 4), InvalidArgument, "multiple of 4");
  FAILS(commands->fill(BufferRef::of(buffer, 0, 6), 0, 4), InvalidArgument, "multiple of 4");
  FAILS(commands->fill(BufferRef::of(buffer, 8, 12), 0, 4), OutOfRange, "12 bytes from byte 8");
}

TEST_P(Update, WritesInlineData) {
  auto buffer = zeros(8);
  std::vector<uint32_t> data = {1, 2, 3};
  OK(run([&](CommandBuffer &c) {
    Status status = c.update({reinterpret_cast<uint8_t *>(data.data()), 12}, BufferRef::of(buffer, 8));
    data.assign(3, 99); // it was copied
    return status;
  }));
  EXPECT_EQ(download<uint32_t>(*buffer), (std::vector<uint32_t>{0, 0, 1, 2, 3, 0, 0, 0}));
}
TEST_P(Update, WritesTheLargestAndRefusesMore) {
  const std::vector<uint8_t> data(kMaxUpdateBytes, 0x5a);
  auto buffer = allocate(kMaxUpdateBytes);
  OK(run([&](CommandBuffer &c) { return c.update(data, BufferRef::of(buffer)); }));
  EXPECT_EQ(download<uint8_t>(*buffer), data);
  auto commands = create();
  OK(commands->begin());
  FAILS(commands->update(std::vector<uint8_t>(kMaxUpdateBytes + 1), BufferRef::of(buffer)), InvalidArgument, "65537");
}

TEST_P(Copy, WholeAndParts) {
  auto source = upload(numbers(16, 100)), target = zeros(16);
  OK(run([&](CommandBuffer &c) { return c.copy(BufferRef::of(source), BufferRef::of(target)); }));
  EXPECT_EQ(download<uint32_t>(*target), numbers(16, 100));
  auto part = zeros(4);
  OK(run([&](CommandBuffer &c) { return c.copy(BufferRef::of(source, 32, 8), BufferRef::of(part, 4, 8)); }));
  EXPECT_EQ(download<uint32_t>(*part), (std::vector<uint32_t>{0, 108, 109, 0}));
}
TEST_P(Copy, WithinOneBuffer) {
  auto buffer = upload(numbers(8));
  OK(run([&](CommandBuffer &c) { return c.copy(BufferRef::of(buffer, 0, 16), BufferRef::of(buffer, 16, 16)); }));
  EXPECT_EQ(download<uint32_t>(*buffer), (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  auto commands = create();
  OK(commands->begin());
  FAILS(commands->copy(BufferRef::of(buffer, 0, 16), BufferRef::of(buffer, 12, 16)), InvalidArgument, "overlap");
}
TEST_P(Copy, EveryAlignment) {
  std::vector<uint8_t> bytes(64);
  for (size_t i = 0; i < 64; ++i)
    bytes[i] = static_cast<uint8_t>(i);
  for (size_t from : {0u, 1u, 2u, 3u, 7u})
    for (size_t to : {0u, 1u, 4u, 5u})
      for (size_t length : {0u, 1u, 3u, 8u, 33u}) {
        auto source = upload(bytes), target = upload(std::vector<uint8_t>(64, 0xee));
        OK(run([&](CommandBuffer &c) {
          return c.copy(BufferRef::of(source, from, length), BufferRef::of(target, to, length));
        }));
        std::vector<uint8_t> expected(64, 0xee);
        std::copy_n(bytes.begin() + from, length, expected.begin() + to);
        EXPECT_EQ(download<uint8_t>(*target), expected) << from << ' ' << to << ' ' << length;
      }
}
TEST_P(Copy, BetweenKindsOfMemory) {
  auto visible = allocate(64, {.memory = MemoryType::HostVisible});
  std::memset(visible->map(0, 64, kAccessWrite)->data(), 0x11, 64);
  auto local = allocate(64);
  auto back = allocate(64, {.memory = MemoryType::HostVisible});
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.copy(BufferRef::of(visible), BufferRef::of(local)));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.copy(BufferRef::of(local), BufferRef::of(back));
  }));
  EXPECT_EQ((*back->map(0, 64, kAccessRead))[63], 0x11);
}
TEST_P(Copy, BindsSlots) {
  auto commands =
      record([&](CommandBuffer &c) { return c.copy(BufferRef::ofSlot(0, 4, 8), BufferRef::ofSlot(1, 0, 8)); },
             {.slotCount = 2});
  auto a = upload(numbers(4, 10)), b = upload(numbers(4, 20)), target = zeros(4);
  OK(run(commands, {{a}, {target}}));
  OK(run(commands, {{b}, {target, 8, 8}}));
  EXPECT_EQ(download<uint32_t>(*target), (std::vector<uint32_t>{11, 12, 21, 22}));
  FAILS(run(commands, {{a}}), InvalidArgument, "1 entries");
  FAILS(run(commands, {{a}, {target, 12, 4}}), OutOfRange, "needs 8");
}

TEST_P(Events, OrderWithinACommandBuffer) {
  auto event = Event::create();
  const std::vector<std::shared_ptr<Event>> events = {event};
  auto buffer = zeros(4);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer), 1, 4));
    TENON_RETURN_IF_ERROR(c.signalEvent(event));
    TENON_RETURN_IF_ERROR(c.waitEvents(events));
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer, 0, 8), 2, 4));
    return c.resetEvent(event);
  }));
  EXPECT_EQ(download<uint32_t>(*buffer), (std::vector<uint32_t>{2, 2, 1, 1}));
}
TEST_P(Events, Chain) {
  auto first = Event::create(), second = Event::create();
  const std::vector<std::shared_ptr<Event>> one = {first}, two = {first, second};
  auto buffer = zeros(1);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer), 1, 4));
    TENON_RETURN_IF_ERROR(c.signalEvent(first));
    TENON_RETURN_IF_ERROR(c.waitEvents(one));
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer), 2, 4));
    TENON_RETURN_IF_ERROR(c.signalEvent(second));
    TENON_RETURN_IF_ERROR(c.waitEvents(two));
    return c.fill(BufferRef::of(buffer), 3, 4);
  }));
  EXPECT_EQ(download<uint32_t>(*buffer)[0], 3u);
}
TEST_P(Events, AWaitNeedsASignal) {
  auto commands = create();
  OK(commands->begin());
  const std::vector<std::shared_ptr<Event>> events = {Event::create()};
  FAILS(commands->waitEvents(events), InvalidArgument, "not signalled");
}

TEST_P(Stress, ThousandCommandsInOne) {
  auto buffer = zeros(1024);
  OK(run([&](CommandBuffer &c) {
    for (uint32_t i = 0; i < 1024; ++i)
      TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer, i * 4, 4), i, 4));
    return okStatus();
  }));
  EXPECT_EQ(download<uint32_t>(*buffer), numbers(1024));
}
TEST_P(Stress, ManySubmissionsInFlight) {
  auto buffer = upload(std::vector<uint32_t>(64, 1));
  auto commands = record(
      [&](CommandBuffer &c) { return c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {64, 3}}); });
  auto timeline = Semaphore::create();
  const BoundCommandBuffer bound = {commands};
  uint32_t expected = 1;
  for (uint64_t i = 0; i < 200; ++i, expected *= 3) {
    const SemaphorePoint wait = {timeline, i}, signal = {timeline, i + 1};
    OK(queue->submit({&wait, 1}, {&bound, 1}, {&signal, 1}));
  }
  OK(timeline->wait(200, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer)[0], expected);
}

} // namespace tenon::conformance
