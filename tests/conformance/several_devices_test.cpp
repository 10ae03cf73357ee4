// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two devices in one process. With one device, each test is skipped and says so; TENON_EMULATOR_DEVICES=2 makes two.
#include "fixture.h"
#include "runtime/memory/transfer.h"

#include <cstdlib>

namespace tenon::conformance {

class SeveralDevices : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device)
      return;
    auto opened = Device::open({.ordinal = 1}, cuda::DriverSearch::fromEnvironment());
    if (!opened.ok())
      GTEST_SKIP() << "one device: " << opened.status().message();
    second = opened.take();
    secondQueue = SubmissionQueue::create(second).take();
    secondExecutable = Executable::create(second, Environment::shared().executableBytes, "conformance").take();
  }
  void TearDown() override {
    secondQueue.reset();
    secondExecutable.reset();
    DeviceTest::TearDown();
  }
  std::shared_ptr<Device> second;
  std::shared_ptr<SubmissionQueue> secondQueue;
  std::shared_ptr<Executable> secondExecutable;
};

TEST_F(SeveralDevices, RunSideBySide) {
  auto a = allocateBuffer(*device, kThreads * 4, {}).take(), b = allocateBuffer(*second, kThreads * 4, {}).take();
  auto done = Semaphore::create(), alsoDone = Semaphore::create();
  const SemaphorePoint points[] = {{done, 1}, {alsoDone, 1}};
  OK(queue->dispatch({}, executable, kIota, {1, 1, 1}, {{BufferRef::of(a)}, {kThreads}}, {&points[0], 1}));
  OK(secondQueue->dispatch({}, secondExecutable, kIota, {1, 1, 1}, {{BufferRef::of(b)}, {kThreads}}, {&points[1], 1}));
  OK(waitSemaphores(points, WaitMode::All, kWaitForever));
  std::vector<uint32_t> values(kThreads);
  OK(downloadBytes(*b, 0, {reinterpret_cast<uint8_t *>(values.data()), kThreads * 4}));
  EXPECT_EQ(values, numbers(kThreads));
  EXPECT_EQ(download<uint32_t>(*a), numbers(kThreads));
}
TEST_F(SeveralDevices, SemaphoresOrderAcrossThem) {
  auto a = allocateBuffer(*device, 64, {}).take(), b = allocateBuffer(*second, 64, {}).take();
  auto timeline = Semaphore::create();
  const SemaphorePoint points[] = {{timeline, 1}, {timeline, 2}, {timeline, 3}};
  OK(secondQueue->fill({&points[1], 1}, BufferRef::of(b), 2, 4, {&points[2], 1})); // its signal is not submitted yet
  OK(queue->fill({&points[0], 1}, BufferRef::of(a), 1, 4, {&points[1], 1}));
  OK(timeline->signal(1));
  OK(timeline->wait(3, kWaitForever));
}
TEST_F(SeveralDevices, WhatIsOfOneIsRefusedByTheOther) {
  auto b = allocateBuffer(*second, 64, {}).take();
  FAILS(queue->fill({}, BufferRef::of(b), 1, 4, {}), FailedPrecondition, "is a buffer of another device");
  FAILS(queue->dispatch({}, secondExecutable, kIota, {1, 1, 1}, {{BufferRef::of(b)}, {1}}, {}), FailedPrecondition,
        "is loaded on another device");
}

/// What a process with two devices sees after a kernel failed on the first. 0: the second works on. 4: its calls fail,
/// end, and name the kernel of the first, as with NVIDIA's driver. Anything else is wrong.
static int lostDeviceScenario() {
  Environment environment = Environment::open();
  auto second = Device::open({.ordinal = 1}, cuda::DriverSearch::fromEnvironment());
  if (!environment.whyNot.empty() || !second.ok())
    return 1;
  auto run = [&](const std::shared_ptr<Device> &device, Kernel kernel) -> Status {
    TENON_ASSIGN_OR_RETURN(auto queue, SubmissionQueue::create(device));
    TENON_ASSIGN_OR_RETURN(auto executable, Executable::create(device, environment.executableBytes, "conformance"));
    TENON_ASSIGN_OR_RETURN(auto buffer, allocateBuffer(*device, 64, {}));
    auto done = Semaphore::create();
    const SemaphorePoint zeroed = {done, 1}, signal = {done, 2};
    TENON_RETURN_IF_ERROR(queue->fill({}, BufferRef::of(buffer), 0, 4, {&zeroed, 1}));
    DispatchArguments arguments = {{BufferRef::of(buffer)}, {}};
    TENON_RETURN_IF_ERROR(
        queue->dispatch({&zeroed, 1}, executable, kernel, {1, 1, 1}, std::move(arguments), {&signal, 1}));
    return done->wait(2, kWaitForever);
  };
  if (run(environment.device, kWriteToNull).code() != StatusCode::Aborted)
    return 2;
  Status other = run(*second, kCountWorkgroups);
  if (other.ok())
    return 0;
  fprintf(stderr, "%s\n", other.toString().c_str()); // gtest shows it where the status is another than wanted
  return other.code() == StatusCode::Aborted && other.message().find("'write_to_null'") != std::string_view::npos ? 4
                                                                                                                  : 3;
}
TEST_F(SeveralDevices, AFaultOfOneEndsTheOtherAndIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process of its own: a fault ends it
  EXPECT_EXIT(std::_Exit(lostDeviceScenario()), testing::ExitedWithCode(4), "");
}
TEST_F(SeveralDevices, OneGoesOnWhereTheDriverLetsIt) {
  if (!device->isEmulator())
    GTEST_SKIP() << "after a fault a GPU's driver fails every call of the process, on every device";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TENON_EMULATOR_FAULTS", "context", 1);
  EXPECT_EXIT(std::_Exit(lostDeviceScenario()), testing::ExitedWithCode(0), "");
  unsetenv("TENON_EMULATOR_FAULTS");
}

} // namespace tenon::conformance
