// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executables: reflection, several variants, wrong architectures, malformed bytes; what a fault of a kernel leaves.
#include "fixture.h"
#include "runtime/memory/transfer.h"

#include <cstdlib>
#include <thread>

namespace tenon::conformance {

using ExecutableFile = DeviceTest;
using Fault = DeviceTest;

TEST_F(ExecutableFile, Reflects) {
  const abi::ExecutableView &view = executable->view();
  EXPECT_EQ(view.exportCount(), kernelExports().size());
  auto ordinal = view.findExport("scale");
  ASSERT_TRUE(ordinal.ok());
  EXPECT_EQ(*ordinal, uint32_t(kScale));
  EXPECT_EQ(view.exportAt(kAdd).layout.bindings.size(), 3u);
  EXPECT_TRUE(view.exportAt(kAdd).layout.bindings[0].readOnly);
  EXPECT_EQ(view.exportAt(kScale).launch.workgroupSize[0], kThreads);
  FAILS(view.findExport("sub").status(), NotFound, "'add'");
}
TEST_F(ExecutableFile, GlobalsAreFoundByName) {
  auto table = findGlobal(executable, kCountWorkgroups, "conformance_table");
  ASSERT_TRUE(table.ok()) << table.status().toString();
  EXPECT_EQ(download<uint32_t>(**table), (std::vector<uint32_t>{1, 20, 300, 4000}));
  const uint32_t seven = 7;
  OK(uploadBytes(**table, 0, {reinterpret_cast<const uint8_t *>(&seven), 4}));
  auto counts = zeros(1);
  const SemaphorePoint done = {Semaphore::create(), 1};
  OK(queue->dispatch({}, executable, kCountWorkgroups, {3, 1, 1}, {{BufferRef::of(counts)}, {}}, {&done, 1}));
  OK(done.semaphore->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*counts)[0], 21u);
  FAILS(findGlobal(executable, kCountWorkgroups, "no_such_table").status(), NotFound,
        "has no visible global 'no_such_table'");
  FAILS(findGlobal(executable, 99, "conformance_table").status(), OutOfRange, "there is no export 99");
}
TEST_F(ExecutableFile, TakesTheBestVariant) {
  auto loaded = executable->load(kAdd);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const uint16_t capability = device->traits().computeCapability;
  EXPECT_EQ((*loaded)->variantName, capability >= 90 ? "sm_90" : capability >= 80 ? "sm_80" : "sm_75");
}
TEST_F(ExecutableFile, LoadsFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < kernelExports().size(); ++i)
        EXPECT_TRUE(executable->load(i).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
}
TEST_F(ExecutableFile, AWrongArchitectureIsExplained) {
  if (device->traits().computeCapability >= 90)
    GTEST_SKIP() << "this device runs every architecture that the kernels are compiled for";
  auto newer = Executable::create(device, linkKernels(kernelExports(), {90}).take(), "newer").take();
  FAILS(newer->load(kAdd).status(), FailedPrecondition, "no image of export 'add'");
}
TEST_F(ExecutableFile, MalformedBytesAreRefused) {
  const std::vector<uint8_t> good = Environment::shared().executableBytes;
  FAILS(Executable::create(device, {}, "empty").status(), DataLoss, "empty");
  for (size_t length : {size_t(1), size_t(8), good.size() / 2, good.size() - 1})
    EXPECT_FALSE(Executable::create(device, {good.data(), length}, "cut").ok()) << length;
  // Every byte of the head, and a sample of the rest: refused or harmless, never a crash.
  for (size_t i = 0; i < good.size(); i += i < 256 ? 1 : 997)
    for (uint8_t flip : {uint8_t(0x01), uint8_t(0x80), uint8_t(0xff)}) {
      std::vector<uint8_t> bad = good;
      bad[i] ^= flip;
      auto loaded = Executable::create(device, bad, "flipped");
      if (!loaded.ok())
        EXPECT_FALSE(loaded.status().message().empty());
    }
}
TEST_F(ExecutableFile, OtherFormatsAreRefused) {
  for (const std::string &other : {std::string("FOO?"),
                                   std::string("\x7f"
                                               "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
                                               16),
                                   readPtx(80)}) {
    const std::vector<uint8_t> bytes(other.begin(), other.end());
    FAILS(Executable::create(device, bytes, "other").status(), DataLoss, "other");
  }
}
TEST_F(ExecutableFile, AMissingKernelIsNotLinked) {
  std::vector<abi::Export> exports = kernelExports();
  exports[kAdd].symbol = "no_such_kernel";
  FAILS(linkKernels(exports, {80}).status(), InvalidArgument, "no_such_kernel");
}

/// What a process sees after a kernel wrote to a null address: 0 when it was as it should be.
int faultScenario() {
  Environment environment = Environment::open();
  if (!environment.whyNot.empty())
    return 1;
  std::shared_ptr<Device> device = environment.device;
  auto queue = SubmissionQueue::create(device).take();
  auto executable = Executable::create(device, environment.executableBytes, "conformance").take();
  auto buffer = allocateBuffer(*device, 64, {}).take();
  auto done = Semaphore::create(), next = Semaphore::create();
  const SemaphorePoint signal = {done, 1}, after = {next, 1};
  Status cleared = queue->fill({}, BufferRef::of(buffer), 0, 4, {&signal, 1});
  if (!cleared.ok() || !done->wait(1, kWaitForever).ok())
    return 2;
  auto failed = Semaphore::create();
  const SemaphorePoint fault = {failed, 1};
  if (!queue->dispatch({}, executable, kWriteToNull, {1, 1, 1}, {{BufferRef::of(buffer)}, {}}, {&fault, 1}).ok())
    return 3;
  Status status = failed->wait(1, kWaitForever);
  if (status.code() != StatusCode::Aborted || status.message().find("CUDA_ERROR_ILLEGAL_ADDRESS") == std::string::npos)
    return 4;
  if (status.message().find("'write_to_null'") == std::string::npos)
    return 5;
  // Whatever comes after fails too, and ends.
  if (queue->submit({&fault, 1}, {}, {&after, 1}).ok() && next->wait(1, kWaitForever).code() != StatusCode::Aborted)
    return 6;
  if (!queue->waitIdle(kWaitForever).ok())
    return 7;
  queue.reset();
  executable.reset();
  buffer.reset();
  return 0;
}

TEST_F(Fault, NamesTheDispatchAndEndsEveryWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process of its own: a fault ends its context
  EXPECT_EXIT(std::_Exit(faultScenario()), testing::ExitedWithCode(0), "");
}

} // namespace tenon::conformance
