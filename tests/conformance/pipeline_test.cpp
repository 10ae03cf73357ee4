// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data that flows through several dispatches of one recording, and recordings submitted again with other buffers.
#include "fixture.h"

namespace tenon::conformance {

CONFORMANCE_SUITE(Pipeline);
CONFORMANCE_SUITE(Reuse);

TEST_P(Pipeline, ChainedDispatches) {
  auto buffer = upload(std::vector<uint32_t>(kThreads, 1));
  OK(run([&](CommandBuffer &c) {
    for (uint32_t factor : {2u, 3u, 5u, 7u}) {
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, factor}}));
      TENON_RETURN_IF_ERROR(c.barrier());
    }
    return okStatus();
  }));
  EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(kThreads, 210));
}
TEST_P(Pipeline, FillThenDispatchThenCopy) {
  auto buffer = zeros(kThreads), out = zeros(kThreads);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer), 6, 4));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, 7}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.copy(BufferRef::of(buffer), BufferRef::of(out));
  }));
  EXPECT_EQ(download<uint32_t>(*out), std::vector<uint32_t>(kThreads, 42));
}
TEST_P(Pipeline, IndependentDispatchesShareABarrier) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 8; ++i)
    buffers.push_back(zeros(kThreads));
  OK(run([&](CommandBuffer &c) {
    for (auto &buffer : buffers)
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kIota, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    for (auto &buffer : buffers)
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, 3}}));
    return okStatus();
  }));
  for (auto &buffer : buffers)
    EXPECT_EQ(download<uint32_t>(*buffer)[63], 189u);
}

/// out = in * factor + offset, of one workgroup.
Status scaleAndOffset(CommandBuffer &c, const std::shared_ptr<Executable> &executable, BufferRef in, BufferRef out,
                      uint32_t factor, uint32_t offset) {
  TENON_RETURN_IF_ERROR(c.dispatch(executable, kScaleAndOffset, {1, 1, 1},
                                   {{std::move(in), std::move(out)}, {kThreads, factor, offset}}));
  return c.barrier();
}

TEST_P(Pipeline, UpdateThenTwoDispatchesThroughAnIntermediate) {
  auto input = zeros(kThreads), between = zeros(kThreads), out = zeros(kThreads);
  const std::vector<uint32_t> data = numbers(kThreads, 10);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.update({reinterpret_cast<const uint8_t *>(data.data()), 256}, BufferRef::of(input)));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(scaleAndOffset(c, executable, BufferRef::of(input), BufferRef::of(between), 3, 0));
    return scaleAndOffset(c, executable, BufferRef::of(between), BufferRef::of(out), 1, 7);
  }));
  const std::vector<uint32_t> middle = download<uint32_t>(*between), last = download<uint32_t>(*out);
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(middle[i], (10 + i) * 3);
    EXPECT_EQ(last[i], (10 + i) * 3 + 7);
  }
}
TEST_P(Pipeline, InputInStreamOrderedMemory) {
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, written = {timeline, 2}, done = {timeline, 3}, gone = {timeline, 4};
  const std::vector<uint32_t> data = numbers(kThreads);
  auto input = queue->allocate({}, kThreads * 4, {}, {&there, 1}).take();
  auto out = zeros(kThreads);
  auto commands = record(
      [&](CommandBuffer &c) { return scaleAndOffset(c, executable, BufferRef::of(input), BufferRef::of(out), 4, 1); });
  const BoundCommandBuffer bound = {commands};
  OK(queue->update({&there, 1}, {reinterpret_cast<const uint8_t *>(data.data()), 256}, BufferRef::of(input),
                   {&written, 1}));
  OK(queue->submit({&written, 1}, {&bound, 1}, {&done, 1}));
  OK(queue->deallocate({&done, 1}, input, {&gone, 1}));
  OK(timeline->wait(4, kWaitForever));
  const std::vector<uint32_t> values = download<uint32_t>(*out);
  for (uint32_t i = 0; i < kThreads; ++i)
    EXPECT_EQ(values[i], 4 * i + 1);
}
TEST_P(Pipeline, TwoStagesReusedWithOtherInputs) {
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(scaleAndOffset(c, executable, BufferRef::ofSlot(0), BufferRef::ofSlot(1), 2, 0));
        return scaleAndOffset(c, executable, BufferRef::ofSlot(1), BufferRef::ofSlot(2), 1, 100);
      },
      {.slotCount = 3});
  for (uint32_t from : {0u, 1u, 1000u}) {
    auto between = zeros(kThreads), out = zeros(kThreads);
    OK(run(commands, {{upload(numbers(kThreads, from))}, {between}, {out}}));
    const std::vector<uint32_t> values = download<uint32_t>(*out);
    for (uint32_t i = 0; i < kThreads; ++i)
      EXPECT_EQ(values[i], 2 * (from + i) + 100);
  }
}

TEST_P(Reuse, OtherBuffersEachTime) {
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads, 2}});
      },
      {.slotCount = 1});
  for (uint32_t i = 1; i <= 3; ++i) {
    auto buffer = upload(std::vector<uint32_t>(kThreads, i));
    OK(run(commands, {{buffer}}));
    EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(kThreads, 2 * i));
  }
}
TEST_P(Reuse, MixedDirectAndSlotBindings) {
  auto fixed = upload(floats(kThreads, 100, 0));
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kAdd, {1, 1, 1},
                          {{BufferRef::of(fixed), BufferRef::ofSlot(0, 4), BufferRef::ofSlot(1)}, {kThreads - 1}});
      },
      {.slotCount = 2});
  auto input = upload(floats(kThreads, 0, 1)), out = zeros(kThreads);
  OK(run(commands, {{input}, {out}}));
  EXPECT_EQ(download<float>(*out)[0], 101.f);
  EXPECT_EQ(download<float>(*out)[62], 163.f);
}
TEST_P(Reuse, LargeGrid) {
  constexpr uint32_t n = 1 << 16;
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kIota, {n / kThreads, 1, 1}, {{BufferRef::ofSlot(0)}, {n}});
      },
      {.slotCount = 1});
  for (int i = 0; i < 2; ++i) {
    auto out = zeros(n);
    OK(run(commands, {{out}}));
    EXPECT_EQ(download<uint32_t>(*out), numbers(n));
  }
}
TEST_P(Reuse, TwoDispatchesWithSeveralTables) {
  constexpr uint32_t kWorkgroups = 32;
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(
            c.dispatch(executable, kMarkWorkgroups, {kWorkgroups, 1, 1}, {{BufferRef::ofSlot(0)}, {}}));
        TENON_RETURN_IF_ERROR(c.barrier());
        return c.dispatch(executable, kMarkWorkgroups, {kWorkgroups, 1, 1}, {{BufferRef::ofSlot(1)}, {}});
      },
      {.slotCount = 2});
  for (int i = 0; i < 5; ++i) {
    auto a = zeros(kWorkgroups), b = zeros(kWorkgroups);
    OK(run(commands, {{a}, {b}}));
    EXPECT_EQ(download<uint32_t>(*a), numbers(kWorkgroups, 1));
    EXPECT_EQ(download<uint32_t>(*b), numbers(kWorkgroups, 1));
  }
}
TEST_P(Reuse, ADeferredSubmissionKeepsItsTable) {
  auto gate = Semaphore::create(), done = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, signal = {done, 1};
  auto out = upload(std::vector<uint32_t>(kThreads, 9));
  {
    auto commands = record(
        [&](CommandBuffer &c) {
          return c.dispatch(executable, kScaleAndOffset, {1, 1, 1},
                            {{BufferRef::ofSlot(0, 4, 8), BufferRef::ofSlot(1, 4, 8)}, {2, 2, 1}});
        },
        {.oneShot = true, .slotCount = 2});
    std::vector<TableEntry> table = {{upload(numbers(kThreads))}, {out}};
    const BoundCommandBuffer bound = {commands, table};
    OK(queue->submit({&wait, 1}, {&bound, 1}, {&signal, 1}));
    table.assign(2, {}); // and the input and the recording go out of scope
  }
  OK(gate->signal(1));
  OK(done->wait(1, kWaitForever));
  const std::vector<uint32_t> values = download<uint32_t>(*out);
  EXPECT_EQ(std::vector<uint32_t>(values.begin(), values.begin() + 4), (std::vector<uint32_t>{9, 3, 5, 9}));
}
TEST_P(Reuse, AllocateExecuteDeallocate) {
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(c.dispatch(executable, kIota, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads}}));
        TENON_RETURN_IF_ERROR(c.barrier());
        return c.copy(BufferRef::ofSlot(0), BufferRef::ofSlot(1));
      },
      {.slotCount = 2});
  auto out = zeros(kThreads);
  auto timeline = Semaphore::create();
  for (uint64_t i = 0; i < 8; ++i) {
    const SemaphorePoint points[] = {
        {timeline, 3 * i}, {timeline, 3 * i + 1}, {timeline, 3 * i + 2}, {timeline, 3 * i + 3}};
    auto memory = queue->allocate({&points[0], 1}, kThreads * 4, {}, {&points[1], 1});
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    const std::vector<TableEntry> table = {{*memory}, {out}};
    const BoundCommandBuffer bound = {commands, table};
    OK(queue->submit({&points[1], 1}, {&bound, 1}, {&points[2], 1}));
    OK(queue->deallocate({&points[2], 1}, memory.take(), {&points[3], 1}));
  }
  OK(timeline->wait(24, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*out), numbers(kThreads));
}

} // namespace tenon::conformance
