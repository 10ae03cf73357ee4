// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/profile.h"

#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/command_buffer_fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class ProfileTest : public CommandBufferFixture {
protected:
  ProfileTest() { queue = SubmissionQueue::create(device).take(); }
  void TearDown() override {
    queue.reset();
    device->endProfiling();
    CommandBufferFixture::TearDown();
  }
  void profile(ProfileFilter filter = {}) {
    ASSERT_OK(
        device->beginProfiling(std::move(filter), [this](const ProfileEvent &event) { events.push_back(event); }));
  }
  void submit(const std::shared_ptr<CommandBuffer> &recorded) {
    const SemaphorePoint signal = {Semaphore::create(), 1};
    const BoundCommandBuffer bound = {recorded};
    ASSERT_OK(queue->submit({}, {&bound, 1}, {&signal, 1}));
    ASSERT_OK(signal.semaphore->wait(1, kWaitForever));
    ASSERT_OK(queue->waitIdle(kWaitForever));
  }
  /// A fill, a dispatch, a copy.
  void recordThree() {
    ASSERT_OK(commands->fill(ref(0, 16), 7, 4));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->dispatch(executable, 0, {2, 3, 1}, {{ref(), ref()}, {0}}));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->copy(ref(0, 16), ref(32, 16)));
    ASSERT_OK(commands->end());
  }
  std::vector<ProfileEvent> of(bool isDevice) const {
    std::vector<ProfileEvent> out;
    std::copy_if(events.begin(), events.end(), std::back_inserter(out),
                 [&](const ProfileEvent &event) { return event.isDevice == isDevice; });
    return out;
  }

  std::shared_ptr<SubmissionQueue> queue;
  std::vector<ProfileEvent> events; // written by the queue's thread, read when it is idle
};

TEST_F(ProfileTest, TellsEveryCommandOfStreamsAndGraphs) {
  fake.elapsedMilliseconds = 0.25;
  for (bool graph : {false, true}) {
    isGraph = graph;
    begin();
    recordThree();
    events.clear();
    profile();
    submit(commands);
    const std::vector<ProfileEvent> onDevice = of(true), onHost = of(false);
    ASSERT_EQ(onDevice.size(), 3u);
    EXPECT_EQ(onDevice[0].kind, ProfileKind::Fill);
    EXPECT_EQ(onDevice[0].bytes, 16u);
    EXPECT_EQ(onDevice[1].name, "add");
    EXPECT_EQ(onDevice[1].grid, (std::array<uint32_t, 3>{2, 3, 1}));
    EXPECT_EQ(onDevice[1].command, 2u);
    EXPECT_EQ(onDevice[2].kind, ProfileKind::Copy);
    EXPECT_NEAR(onDevice[2].endUs - onDevice[2].beginUs, 250, 1e-6);
    ASSERT_EQ(onHost.size(), 1u);
    EXPECT_EQ(onHost[0].kind, ProfileKind::Commands);
    EXPECT_EQ(onHost[0].submission, onDevice[0].submission);
    EXPECT_EQ(onHost[0].queue, onDevice[0].queue);
    EXPECT_LE(onHost[0].beginUs, onHost[0].issuedUs);
    EXPECT_LE(onHost[0].issuedUs, onHost[0].endUs);
    device->endProfiling();
    submit(commands); // a graph again
    EXPECT_EQ(events.size(), 4u);
    EXPECT_EQ(fake.count("cuGraphLaunch"), graph ? 1u : 0u);
  }
}

TEST_F(ProfileTest, FiltersByKindAndExport) {
  recordThree();
  profile({.host = false, .kinds = 1u << static_cast<uint32_t>(ProfileKind::Dispatch)});
  submit(commands);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "add");
  events.clear();
  profile({.host = false, .exports = {"sub"}}); // begins anew
  submit(commands);
  EXPECT_EQ(events.size(), 2u); // no dispatch
  events.clear();
  const size_t before = fake.count("cuEventRecord");
  profile({.device = false});
  submit(commands);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, ProfileKind::Commands);
  EXPECT_EQ(fake.count("cuEventRecord"), before + 1); // the submission's own
}

TEST_F(ProfileTest, TellsWhatTheHostDoes) {
  profile();
  std::vector<uint8_t> memory(64);
  auto file = File::importMemory(memory.data(), 64, kAccessRead, "weights").take();
  const SemaphorePoint failed = {Semaphore::create(), 1};
  ASSERT_OK(queue->hostCall({}, [] { return makeError(StatusCode::DataLoss, "bad"); }, {&failed, 1}));
  EXPECT_FALSE(failed.semaphore->wait(1, kWaitForever).ok());
  ASSERT_OK(queue->waitIdle(kWaitForever));
  ASSERT_OK(queue->readFile({}, file, 0, ref(), {}));
  ASSERT_OK(queue->waitIdle(kWaitForever));
  auto memoryOf = queue->allocate({}, 8, {}, {}).take();
  ASSERT_OK(queue->deallocate({}, memoryOf, {}));
  ASSERT_OK(queue->streamWork({}, [](CUstream) { return okStatus(); }, "a call of 'f'", {}));
  ASSERT_OK(queue->waitIdle(kWaitForever));
  const std::vector<ProfileEvent> host = of(false);
  ASSERT_EQ(host.size(), 5u);
  EXPECT_EQ(host[0].kind, ProfileKind::HostCall);
  EXPECT_TRUE(host[0].hasFailed);
  EXPECT_EQ(host[1].kind, ProfileKind::File);
  EXPECT_EQ(host[1].name, "weights");
  EXPECT_EQ(host[1].bytes, 64u);
  EXPECT_EQ(host[2].kind, ProfileKind::Allocation);
  EXPECT_EQ(host[3].kind, ProfileKind::Deallocation);
  EXPECT_EQ(host[4].kind, ProfileKind::Call);
  EXPECT_EQ(host[4].name, "a call of 'f'");
  ASSERT_EQ(of(true).size(), 1u); // the call as a whole
}

TEST_F(ProfileTest, ADriverThatDoesNotMeasureLosesTimesOnly) {
  recordThree();
  profile();
  for (const char *function : {"cuEventElapsedTime_v2", "cuEventCreate"}) {
    events.clear();
    submit(commands); // the pools of events are filled, or not
    events.clear();
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    ASSERT_OK(commands->checkSubmission({}));
    submit(commands);
    fake.failures.clear();
    EXPECT_EQ(of(false).size(), 1u);
    EXPECT_EQ(read()[0], 7);
  }
}

TEST_F(ProfileTest, RefusesWhatTellsNothing) {
  EXPECT_STATUS(device->beginProfiling({}, nullptr), InvalidArgument, "no sink");
  auto sink = [](const ProfileEvent &) {};
  EXPECT_STATUS(device->beginProfiling({.host = false, .device = false}, sink), InvalidArgument, "nothing pass");
  EXPECT_STATUS(device->beginProfiling({.kinds = 1u << 20}, sink), InvalidArgument, "unknown kinds");
  fake.failures["cuEventSynchronize"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(device->beginProfiling({}, sink), ResourceExhausted, "cuEventSynchronize");
  fake.failures.clear();
  EXPECT_EQ(profileKindName(ProfileKind::HostCall), "host call");
}

} // namespace tenon::runtime
