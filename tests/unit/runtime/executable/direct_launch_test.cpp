// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches without a command buffer; tests/unit/runtime/c_api/c_api_launch_test.cpp has the rest, as callers see it.
#include "runtime/executable/direct_launch.h"

#include "runtime/memory/allocator.h"
#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::test {

using namespace runtime;

class DirectLaunchTest : public FakeDeviceTest {
protected:
  DirectLaunchTest() { open(); }
};

TEST_F(DirectLaunchTest, CountsWhatReachesTheDriver) {
  const std::vector<uint8_t> bytes =
      buildExecutable("exe", {makeExport("fill", 1, 1)}, {{.name = "v", .image = "ptx"}});
  fake.parameters["fill"] = {{0, 8}, {8, 4}};
  fake.kernels["fill"] = [](const FakeLaunch &launch) {
    *reinterpret_cast<uint32_t *>(launch.parameter<uint64_t>(0)) = launch.parameter<uint32_t>(1);
  };
  auto executableMade = Executable::create(device, bytes, "test");
  ASSERT_OK(executableMade.status());
  std::shared_ptr<Executable> executable = executableMade.take();
  auto bufferMade = allocateBuffer(*device, 4, {});
  ASSERT_OK(bufferMade.status());
  std::shared_ptr<Buffer> buffer = bufferMade.take();
  const DeviceRange range = {buffer->address(), 4};
  const uint64_t word = 42;
  const CUstream stream = device->stream().handle();
  ASSERT_OK(launchExport(*executable, 0, {1, 1, 1}, {&range, 1}, {&word, 1}, stream));
  ASSERT_OK(launchExport(*executable, 0, {0, 1, 1}, {&range, 1}, {&word, 1}, stream));
  EXPECT_EQ(device->statistics().launches, 1u);
  ASSERT_OK(device->stream().synchronize());
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(buffer->address()), 42u);
  buffer->markRetired();
  const Buffer *const bound[] = {buffer.get()};
  EXPECT_STATUS(checkBindings(*executable, executable->exportAt(0), bound), FailedPrecondition,
                "export 'fill': binding 0 is a buffer that was deallocated");
}

} // namespace tenon::test
