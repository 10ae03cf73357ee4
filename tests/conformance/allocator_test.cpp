// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation, mapping and import; drivers and devices.
#include "fixture.h"

#include <algorithm>
#include <ranges>

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
TEST_F(Allocator, EveryKindIsGoodForTransfersAndDispatches) {
  for (MemoryType memory : {MemoryType::DeviceLocal, MemoryType::HostVisible}) {
    auto buffer = allocate(256, {.memory = memory, .usage = kUsageTransferTarget | kUsageDispatch});
    EXPECT_EQ(buffer->options().memory, memory);
    EXPECT_EQ(buffer->options().usage, kUsageTransferTarget | kUsageDispatch);
    auto timeline = Semaphore::create();
    const SemaphorePoint filled = {timeline, 1}, scaled = {timeline, 2};
    OK(queue->fill({}, BufferRef::of(buffer), 3, 4, {&filled, 1}));
    OK(queue->dispatch({&filled, 1}, executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {64, 5}}, {&scaled, 1}));
    OK(timeline->wait(2, kWaitForever));
    EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(64, 15));
  }
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

TEST_F(Allocator, ImportedHostMemoryCanBeImportedAgain) {
  alignas(4096) static uint32_t memory[1024];
  int released = 0;
  for (bool hasCallback : {false, true, false}) {
    Buffer::Release callback;
    if (hasCallback)
      callback = [&] { ++released; };
    auto imported = importHostMemory(*device, memory, sizeof(memory), {}, callback);
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_EQ((*imported)->options().memory, MemoryType::HostVisible);
    EXPECT_FALSE(importHostMemory(*device, memory, sizeof(memory), {}, {}).ok()); // it is registered
    EXPECT_EQ(released, 0);
    imported = makeError(StatusCode::Aborted, "over");
    EXPECT_EQ(released, hasCallback ? 1 : 0);
    released = 0;
  }
  FAILS(importHostMemory(*device, nullptr, 64, {}, {}).status(), InvalidArgument, "a null address");
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

/// Bytes [from, from + length) of a mapping, and within them what an operation is for.
struct Place {
  size_t from, length, innerFrom, innerLength;
  size_t begin() const { return from + innerFrom; }
};
/// The whole of 16 bytes, a part of them, a part of a part, nothing.
constexpr Place kPlaces[] = {{0, 16, 0, 16}, {4, 8, 0, 8}, {4, 8, 4, 4}, {4, 8, 4, 0}};

std::span<uint8_t> mapPlace(const Buffer &buffer, const Place &place, uint32_t access) {
  auto mapped = buffer.map(place.from, place.length, access);
  EXPECT_TRUE(mapped.ok()) << mapped.status().message();
  EXPECT_EQ(mapped->size(), place.length);
  return mapped->subspan(place.innerFrom, place.innerLength);
}
std::vector<uint8_t> expectedAt(const Place &place, uint8_t around, const std::vector<uint8_t> &inside) {
  std::vector<uint8_t> out(16, around);
  std::copy_n(inside.begin(), place.innerLength, out.begin() + static_cast<ptrdiff_t>(place.begin()));
  return out;
}

TEST_F(Mapping, ZeroesFillsAndWritesEveryPlace) {
  const std::vector<uint8_t> zeroes(16), filled(16, 0xee), data = noise(16);
  for (const Place &place : kPlaces)
    for (const std::vector<uint8_t> &inside : {zeroes, filled, data}) {
      auto buffer = allocate(16, kVisible);
      std::ranges::fill(*buffer->map(0, 16, kAccessWrite), uint8_t(0x77));
      std::ranges::copy_n(inside.begin(), static_cast<ptrdiff_t>(place.innerLength),
                          mapPlace(*buffer, place, kAccessWrite).begin());
      const std::vector<uint8_t> expected = expectedAt(place, 0x77, inside);
      EXPECT_EQ(download<uint8_t>(*buffer), expected); // as the device has it
      auto host = *buffer->map(0, 16, kAccessRead);
      EXPECT_EQ(std::vector<uint8_t>(host.begin(), host.end()), expected);
    }
}
TEST_F(Mapping, ReadsEveryPlaceOfWhatTheDeviceWrote) {
  auto buffer = allocate(16, kVisible);
  auto timeline = Semaphore::create();
  std::vector<uint8_t> expected;
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    const SemaphorePoint before = {timeline, quarter}, after = {timeline, quarter + 1};
    OK(queue->fill({&before, 1}, BufferRef::of(buffer, quarter * 4, 4), 0xaa + 0x11 * quarter, 1, {&after, 1}));
    expected.insert(expected.end(), 4, static_cast<uint8_t>(0xaa + 0x11 * quarter));
  }
  OK(timeline->wait(4, kWaitForever));
  for (const Place &place : kPlaces) {
    auto bytes = mapPlace(*buffer, place, kAccessRead);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin() + static_cast<ptrdiff_t>(place.begin())));
  }
}
TEST_F(Mapping, CopiesEveryPlaceToEveryOther) {
  const std::vector<uint8_t> data = noise(16);
  for (const Place &from : kPlaces)
    for (const Place &to : kPlaces) {
      auto source = allocate(16, kVisible), target = allocate(16, kVisible);
      std::ranges::copy(data, source->map(0, 16, kAccessWrite)->begin());
      std::ranges::fill(*target->map(0, 16, kAccessWrite), uint8_t(0x77));
      const size_t length = std::min(from.innerLength, to.innerLength);
      std::ranges::copy_n(mapPlace(*source, from, kAccessRead).begin(), static_cast<ptrdiff_t>(length),
                          mapPlace(*target, to, kAccessWrite).begin());
      std::vector<uint8_t> expected(16, 0x77);
      std::copy_n(data.begin() + static_cast<ptrdiff_t>(from.begin()), length,
                  expected.begin() + static_cast<ptrdiff_t>(to.begin()));
      EXPECT_EQ(download<uint8_t>(*target), expected);
    }
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
    auto opened = Device::open({.ordinal = i}, cuda::DriverSearch::fromEnvironment());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_EQ((*opened)->traits().computeCapability, info->computeCapability);
  }
  FAILS(Device::open({.ordinal = *count}, cuda::DriverSearch::fromEnvironment()).status(), Unavailable, "device");
  FAILS(queryDeviceInfo(driver, static_cast<size_t>(*count)).status(), Unavailable, "no device");
}
TEST_F(DriverAndDevice, OpensByPath) {
  for (const char *path : {"cuda", "cuda:0", "cuda://0", "emulator:0"})
    EXPECT_TRUE(cuda::DeviceSelector::parse(path).ok());
  const std::string path = concat(device->isEmulator() ? "emulator" : "cuda", ":0");
  auto opened = Device::open(*cuda::DeviceSelector::parse(path), cuda::DriverSearch::fromEnvironment());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->description(), device->description());
  FAILS(cuda::DeviceSelector::parse("vulkan").status(), InvalidArgument, "unknown device 'vulkan'");
}

} // namespace tenon::conformance
