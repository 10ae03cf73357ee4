// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiling: a sink hears what queues did and when, and the results are those without it.
#include "fixture.h"

namespace tenon::conformance {

/// A device that is profiled for a test.
template <typename Base> class Profiled : public Base {
protected:
  void TearDown() override {
    if (this->device)
      this->device->endProfiling();
    Base::TearDown();
  }
  void profile(ProfileFilter filter = {}) {
    OK(this->device->beginProfiling(std::move(filter), [this](const ProfileEvent &event) { events.push_back(event); }));
  }
  std::vector<ProfileEvent> of(bool isDevice) {
    EXPECT_TRUE(this->queue->waitIdle(kWaitForever).ok());
    std::vector<ProfileEvent> out;
    std::copy_if(events.begin(), events.end(), std::back_inserter(out),
                 [&](const ProfileEvent &event) { return event.isDevice == isDevice; });
    return out;
  }
  static void expectOrdered(const std::vector<ProfileEvent> &onDevice) {
    for (size_t i = 0; i < onDevice.size(); ++i) {
      EXPECT_LE(onDevice[i].beginUs, onDevice[i].endUs);
      if (i != 0)
        EXPECT_GE(onDevice[i].beginUs + 2, onDevice[i - 1].endUs) << i; // two roundings of single precision
    }
  }
  std::vector<ProfileEvent> events; // of one queue: one thread
};

using QueueProfile = Profiled<DeviceTest>;
class CommandProfile : public Profiled<CommandTest> {};
INSTANTIATE_TEST_SUITE_P(Each, CommandProfile, testing::ValuesIn(kImplementations), implementationName);

TEST_F(QueueProfile, HostEventsOfDispatches) {
  profile({.device = false});
  auto out = zeros(kThreads);
  const SemaphorePoint go = {Semaphore::create(), 1}, done = {Semaphore::create(), 1};
  OK(queue->dispatch({&go, 1}, executable, kIota, {1, 1, 1}, {{BufferRef::of(out)}, {kThreads}}, {&done, 1}));
  OK(go.semaphore->signal(1));
  OK(done.semaphore->wait(1, kWaitForever));
  const auto host = of(false);
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(host[0].kind, ProfileKind::Commands);
  EXPECT_LE(host[0].beginUs, host[0].issuedUs);
  EXPECT_LE(host[0].issuedUs, host[0].endUs);
  EXPECT_FALSE(host[0].hasFailed);
  EXPECT_TRUE(of(true).empty());
  EXPECT_EQ(download<uint32_t>(*out), numbers(kThreads));
}
TEST_F(QueueProfile, DeviceEventsOfDispatches) {
  profile({.host = false});
  auto x = upload(numbers(4 * kThreads));
  auto timeline = Semaphore::create();
  for (uint64_t i = 0; i < 3; ++i) {
    const SemaphorePoint before = {timeline, i}, after = {timeline, i + 1};
    OK(queue->dispatch({&before, 1}, executable, kScale, {4, 1, 1}, {{BufferRef::of(x)}, {4 * kThreads, 2}},
                       {&after, 1}));
  }
  OK(timeline->wait(3, kWaitForever));
  const auto onDevice = of(true);
  ASSERT_EQ(onDevice.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(onDevice[i].kind, ProfileKind::Dispatch);
    EXPECT_EQ(onDevice[i].name, "scale");
    EXPECT_EQ(onDevice[i].grid, (std::array<uint32_t, 3>{4, 1, 1}));
    EXPECT_EQ(onDevice[i].submission, onDevice[0].submission + i);
  }
  expectOrdered(onDevice);
  EXPECT_TRUE(of(false).empty());
  EXPECT_EQ(download<uint32_t>(*x)[5], 40u);
}
TEST_F(QueueProfile, AFilterLeavesDispatchesOut) {
  profile({.host = false, .kinds = 1u << static_cast<uint32_t>(ProfileKind::Fill)});
  auto x = zeros(kThreads);
  auto timeline = Semaphore::create();
  const SemaphorePoint filled = {timeline, 1}, done = {timeline, 2};
  OK(queue->fill({}, BufferRef::of(x), 3, 4, {&filled, 1}));
  OK(queue->dispatch({&filled, 1}, executable, kScale, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads, 5}}, {&done, 1}));
  OK(timeline->wait(2, kWaitForever));
  const auto onDevice = of(true);
  ASSERT_EQ(onDevice.size(), 1u);
  EXPECT_EQ(onDevice[0].kind, ProfileKind::Fill);
  EXPECT_EQ(onDevice[0].bytes, kThreads * 4);
  EXPECT_EQ(download<uint32_t>(*x), std::vector<uint32_t>(kThreads, 15));
}
TEST_F(QueueProfile, FillsAndCopies) {
  profile();
  auto a = zeros(256), b = zeros(256);
  auto timeline = Semaphore::create();
  const SemaphorePoint filled = {timeline, 1}, copied = {timeline, 2};
  OK(queue->fill({}, BufferRef::of(a), 0xab, 1, {&filled, 1}));
  OK(queue->copy({&filled, 1}, BufferRef::of(a), BufferRef::of(b), {&copied, 1}));
  OK(timeline->wait(2, kWaitForever));
  const auto host = of(false), onDevice = of(true);
  ASSERT_EQ(host.size(), 2u);
  ASSERT_EQ(onDevice.size(), 2u);
  EXPECT_EQ(onDevice[1].kind, ProfileKind::Copy);
  EXPECT_EQ(onDevice[1].bytes, 1024u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_LE(onDevice[i].beginUs, host[i].endUs + 1000); // of two clocks
  EXPECT_EQ(download<uint8_t>(*b), std::vector<uint8_t>(1024, 0xab));
}
TEST_F(QueueProfile, NothingComesBehindTheEnd) {
  profile();
  device->endProfiling();
  auto x = zeros(kThreads);
  const SemaphorePoint done = {Semaphore::create(), 1};
  OK(queue->fill({}, BufferRef::of(x), 3, 4, {&done, 1}));
  OK(done.semaphore->wait(1, kWaitForever));
  EXPECT_TRUE(of(false).empty());
}
TEST_P(CommandProfile, EveryCommandOfAReplayHasItsTime) {
  auto x = zeros(kThreads), y = zeros(kThreads);
  auto commands = record(
      [&](CommandBuffer &c) -> Status {
        TENON_RETURN_IF_ERROR(c.fill(BufferRef::ofSlot(0), 3, 4));
        TENON_RETURN_IF_ERROR(c.barrier());
        TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads, 5}}));
        TENON_RETURN_IF_ERROR(c.barrier());
        return c.copy(BufferRef::ofSlot(0), BufferRef::of(y));
      },
      {.slotCount = 1});
  // Without, with, without: a graph that was launched before and is launched again.
  for (int round = 0; round < 3; ++round) {
    events.clear();
    if (round == 1)
      profile();
    auto in = round == 2 ? zeros(kThreads) : x;
    OK(run(commands, {{in}}));
    EXPECT_EQ(download<uint32_t>(*in), std::vector<uint32_t>(kThreads, 15));
    EXPECT_EQ(download<uint32_t>(*y), std::vector<uint32_t>(kThreads, 15));
    const auto onDevice = of(true);
    ASSERT_EQ(onDevice.size(), round == 1 ? 3u : 0u);
    expectOrdered(onDevice);
    if (round == 1) {
      EXPECT_EQ(onDevice[0].kind, ProfileKind::Fill);
      EXPECT_EQ(onDevice[1].name, "scale");
      EXPECT_EQ(onDevice[2].kind, ProfileKind::Copy);
      EXPECT_EQ(of(false).size(), 1u);
      device->endProfiling();
    }
  }
}
// The grid is read from a buffer: written before the recording runs, and by the recording itself.
TEST_P(CommandProfile, IndirectDispatchesAreTheSame) {
  profile();
  auto counts = zeros(8), grid = upload(std::vector<uint32_t>{3, 1, 1});
  OK(run([&](CommandBuffer &c) {
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid), {{BufferRef::of(counts)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counts)[0], 3u);
  OK(run([&](CommandBuffer &c) -> Status {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(grid, 0, 4), 5, 4));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid), {{BufferRef::of(counts)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counts)[0], 8u);
  const auto onDevice = of(true);
  ASSERT_EQ(onDevice.size(), 3u);
  EXPECT_EQ(onDevice[0].name, "count_workgroups");
  EXPECT_EQ(onDevice[2].name, "count_workgroups");
}

} // namespace tenon::conformance
