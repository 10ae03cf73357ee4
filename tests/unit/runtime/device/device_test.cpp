// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/device.h"

#include "runtime/memory/allocator.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class DeviceTest : public FakeDeviceTest {};

TEST_F(DeviceTest, ReadsWhatSelectionAsks) {
  fake.major = 9;
  open();
  EXPECT_EQ(device->traits().name, "Fake GPU");
  EXPECT_EQ(device->traits().computeCapability, 90);
  EXPECT_EQ(device->traits().driverVersion, 13000);
  EXPECT_EQ(device->traits().maxSharedOptinBytes, 166912u);
  EXPECT_TRUE(device->traits().acceptsCubin);
  EXPECT_FALSE(device->isEmulator());
  EXPECT_EQ(device->description(), "'Fake GPU' (sm_90, driver 13.0)");
  EXPECT_EQ(fake.retained, 1);
}

TEST_F(DeviceTest, TheEmulatorTakesNoCubin) {
  fake.deviceName = "Tenon emulator sm_80 (CPU)";
  open();
  EXPECT_TRUE(device->isEmulator());
  EXPECT_FALSE(device->traits().acceptsCubin);
}

TEST_F(DeviceTest, AnAbsentOrdinalSaysHowManyThereAre) {
  std::shared_ptr<const cuda::Driver> driver = cuda::Driver::openFirst({fakeDriverPath()}, "the fake").take();
  EXPECT_STATUS(Device::create(driver, 1).status(), Unavailable, "no device 1: the driver '");
  EXPECT_STATUS(Device::create(driver, 1).status(), Unavailable, "' has 1 device");
  EXPECT_STATUS(Device::create(driver, -1).status(), Unavailable, "no device -1: the driver '");
}

TEST_F(DeviceTest, AllocatesStreamOrderedWherePoolsExist) {
  open();
  {
    auto buffer = allocateOnStream(*device, 100);
    ASSERT_OK(buffer.status());
    EXPECT_EQ((*buffer)->address() % kBufferAlignment, 0u);
    EXPECT_EQ((*buffer)->size(), 100u);
    EXPECT_EQ(device->statistics().bytesLive, 100u);
  }
  EXPECT_EQ(fake.count("cuMemAllocAsync"), 1u);
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 1u);
  EXPECT_EQ(device->statistics().bytesLive, 0u);
  EXPECT_EQ(device->statistics().bytesPeak, 100u);
}

TEST_F(DeviceTest, AllocatesPlainlyElsewhere) {
  fake.memoryPools = false;
  open();
  ASSERT_OK(allocateOnStream(*device, 100).status());
  EXPECT_EQ(fake.count("cuMemAlloc_v2"), 1u);
  EXPECT_EQ(fake.count("cuMemFree_v2"), 1u);
}

TEST_F(DeviceTest, AnEmptyBufferHasAnAddress) {
  open();
  auto buffer = allocateOnStream(*device, 0);
  ASSERT_OK(buffer.status());
  EXPECT_NE((*buffer)->address(), 0u);
  EXPECT_EQ((*buffer)->size(), 0u);
}

TEST_F(DeviceTest, OutOfMemoryNamesTheBytes) {
  open();
  fake.failures["cuMemAllocAsync"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(allocateOnStream(*device, 4096).status(), ResourceExhausted,
                "cuMemAllocAsync of 4096 bytes on 'Fake GPU' (sm_80, driver 13.0): CUDA_ERROR_OUT_OF_MEMORY (2)");
}

TEST_F(DeviceTest, ABufferKeepsItsDeviceAlive) {
  open();
  std::shared_ptr<Buffer> buffer = allocateOnStream(*device, 1).take();
  device.reset();
  EXPECT_EQ(fake.retained, 1);
  buffer.reset();
  EXPECT_EQ(fake.retained, 0);
}

TEST(Statistics, PrintsEveryCount) {
  EXPECT_EQ((Statistics{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}.toString()),
            "allocations: 1\nfrees: 2\nbytes live: 3\nbytes peak: 4\nlaunches: 5\nmodules loaded: 6\nPTX compiled: 7\n"
            "PTX found compiled in the cache: 8\ngraphs instantiated: 9\ngraph nodes patched: 10\n");
}

// Whatever call fails while a device is opened: an error that names it, and nothing left behind (the fixture looks).
TEST_F(DeviceTest, EveryFailureWhileOpeningIsReported) {
  for (const char *function : {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
                               "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuStreamCreate"}) {
    std::shared_ptr<const cuda::Driver> driver = cuda::Driver::openFirst({fakeDriverPath()}, "the fake").take();
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(Device::create(driver, 0).status(), ResourceExhausted, function);
    fake.failures.clear();
    EXPECT_EQ(fake.retained, 0) << function;
  }
}

} // namespace tenon::runtime
