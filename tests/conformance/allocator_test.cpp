// Allocation, mapping and import; drivers and devices.
#include "fixture.h"

#include <algorithm>

namespace tenon::conformance {

using Allocator = DeviceTest;
using Mapping = DeviceTest;
using DriverAndDevice = DeviceTest;

constexpr BufferOptions kVisible = {.memory = MemoryType::HostVisible};

TEST_F(Allocator, AllocatesEveryKindAndSize) {
  for (MemoryType memory : {MemoryType::DeviceLocal, MemoryType::HostVisible})
    for (uint64_t bytes : {uint64_t(1), uint64_t(255), uint64_t(4096), uint64_t(1) << 22}) {
      auto buffer = allocate(bytes, {.memory = memory});
      ASSERT_TRUE(buffer);
      EXPECT_EQ(buffer->size(), bytes);
      EXPECT_EQ(buffer->address() % 256, 0u);
    }
}
TEST_F(Allocator, AllocatesEmptyBuffers) {
  EXPECT_EQ(allocate(0)->size(), 0u);
  EXPECT_EQ(allocate(0, kVisible)->size(), 0u);
}
TEST_F(Allocator, SaysWhatIsNotPossible) {
  FAILS(allocateBuffer(*device, 1, {.usage = kUsageMapping}).status(), InvalidArgument, "cannot be mapped");
  FAILS(allocateBuffer(*device, 1, {.usage = 1u << 20}).status(), InvalidArgument, "usage");
}
TEST_F(Allocator, OutOfMemoryIsAnErrorAndNotTheEnd) {
  FAILS(allocateBuffer(*device, uint64_t(1) << 50, {}).status(), ResourceExhausted,
        "cuMemAlloc_v2 of 1125899906842624");
  EXPECT_TRUE(allocate(1024));
}
TEST_F(Allocator, CountsWhatIsLive) {
  const uint64_t before = device->statistics().bytesLive;
  auto buffer = allocate(1000);
  EXPECT_EQ(device->statistics().bytesLive, before + 1000);
  buffer.reset();
  EXPECT_EQ(device->statistics().bytesLive, before);
  auto info = queryMemory(*device);
  ASSERT_TRUE(info.ok());
  EXPECT_LE(info->freeBytes, info->totalBytes);
}
TEST_F(Allocator, ImportsDeviceMemory) {
  auto owner = upload(numbers(64));
  int released = 0;
  {
    auto window = importDeviceMemory(*device, owner->address() + 64, 64, {}, [&] { ++released; }).take();
    EXPECT_EQ(download<uint32_t>(*window), numbers(16, 16));
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(download<uint32_t>(*owner), numbers(64));
}
TEST_F(Allocator, ImportsHostMemory) {
  alignas(4096) static uint32_t memory[1024];
  std::fill(std::begin(memory), std::end(memory), 7u);
  int released = 0;
  auto imported = importHostMemory(*device, memory, sizeof(memory), {}, [&] { ++released; });
  if (!imported.ok() && imported.status().code() == StatusCode::Unimplemented)
    GTEST_SKIP() << imported.status().message();
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->fill({}, BufferRef::of(*imported, 0, 2048), 9, 4, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(memory[511], 9u);
  EXPECT_EQ(memory[512], 7u);
  imported = makeError(StatusCode::Aborted, "over");
  EXPECT_EQ(released, 1);
}

TEST_F(Mapping, ReadsAndWritesTheWhole) {
  auto buffer = allocate(64, kVisible);
  auto bytes = buffer->map(0, 64, kAccessAll);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  std::fill(bytes->begin(), bytes->end(), uint8_t(0xcd));
  EXPECT_EQ(download<uint8_t>(*buffer), std::vector<uint8_t>(64, 0xcd));
}
TEST_F(Mapping, ReadsAndWritesARange) {
  auto buffer = allocate(16, kVisible);
  std::memset(buffer->map(0, 16, kAccessWrite)->data(), 0, 16);
  auto middle = buffer->map(4, 8, kAccessWrite);
  ASSERT_TRUE(middle.ok());
  std::fill(middle->begin(), middle->end(), uint8_t(1));
  auto inner = buffer->map(6, 2, kAccessWrite); // a range of a range
  (*inner)[0] = 2;
  const std::vector<uint8_t> expected = {0, 0, 0, 0, 1, 1, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  EXPECT_EQ(download<uint8_t>(*buffer), expected);
}
TEST_F(Mapping, SeesWhatTheDeviceWrote) {
  auto buffer = allocate(64, kVisible);
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->fill({}, BufferRef::of(buffer), 0x01020304, 4, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  auto bytes = buffer->map(60, 4, kAccessRead);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ((*bytes)[3], 1);
}
TEST_F(Mapping, RefusesRangesUsesAndAccesses) {
  auto buffer = allocate(16, {.memory = MemoryType::HostVisible, .access = kAccessRead});
  FAILS(buffer->map(8, 9, kAccessRead).status(), OutOfRange, "9 bytes from byte 8");
  FAILS(buffer->map(17, 0, kAccessRead).status(), OutOfRange, "byte 17");
  FAILS(buffer->map(0, 16, kAccessWrite).status(), FailedPrecondition, "read only");
  FAILS(allocate(16)->map(0, 1, kAccessRead).status(), FailedPrecondition, "cannot be mapped");
}
TEST_F(Mapping, CopiesThroughTheHost) {
  auto a = allocate(16, kVisible), b = allocate(16, kVisible);
  std::memset(a->map(0, 16, kAccessWrite)->data(), 5, 16);
  std::memset(b->map(0, 16, kAccessWrite)->data(), 6, 16);
  std::memcpy(b->map(8, 4, kAccessWrite)->data(), a->map(0, 4, kAccessRead)->data(), 4);
  EXPECT_EQ(download<uint8_t>(*b)[8], 5);
  EXPECT_EQ(download<uint8_t>(*b)[12], 6);
}

TEST_F(DriverAndDevice, EnumeratesAndOpensByOrdinal) {
  const cuda::Driver &driver = device->driver();
  auto count = driver.deviceCount();
  ASSERT_TRUE(count.ok());
  for (int i = 0; i < *count; ++i) {
    auto info = queryDeviceInfo(driver, static_cast<size_t>(i));
    ASSERT_TRUE(info.ok());
    EXPECT_GE(info->computeCapability, 50u);
    EXPECT_GT(info->memoryBytes, 0u);
  }
  FAILS(queryDeviceInfo(driver, static_cast<size_t>(*count)).status(), Unavailable, "no device");
}
TEST_F(DriverAndDevice, OpensByPath) {
  for (const char *path : {"cuda", "cuda:0", "cuda://0", "emulator:0"})
    EXPECT_TRUE(cuda::DeviceSelector::parse(path).ok());
  FAILS(cuda::DeviceSelector::parse("vulkan").status(), InvalidArgument, "unknown device 'vulkan'");
}

} // namespace tenon::conformance
