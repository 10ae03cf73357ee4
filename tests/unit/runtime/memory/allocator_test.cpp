// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/allocator.h"

#include "tests/unit/runtime/fixture.h"

#include <algorithm>

namespace tenon::runtime {

using namespace tenon::test;

using AllocatorTest = FakeDeviceTest;

TEST_F(AllocatorTest, AllocatesHostVisibleMemoryThatMaps) {
  open();
  auto buffer = allocateBuffer(*device, 16, {.memory = MemoryType::HostVisible});
  ASSERT_OK(buffer.status());
  auto bytes = (*buffer)->map(4, 8, kAccessAll);
  ASSERT_OK(bytes.status());
  std::fill(bytes->begin(), bytes->end(), uint8_t(7));
  EXPECT_EQ((*(*buffer)->map(11, 1, kAccessRead))[0], 7);
  EXPECT_STATUS((*buffer)->map(8, 9, kAccessRead).status(), OutOfRange, "9 bytes from byte 8 of a buffer of 16 bytes");
  EXPECT_EQ(device->statistics().bytesLive, 16u);
}

TEST_F(AllocatorTest, MapsOnlyWhatWasAskedFor) {
  open();
  auto local = allocateBuffer(*device, 16, {}).take();
  EXPECT_STATUS(local->map(0, 1, kAccessRead).status(), FailedPrecondition, "allocate it host-visible");
  auto unmapped = allocateBuffer(*device, 16, {.memory = MemoryType::HostVisible, .usage = kUsageDispatch}).take();
  EXPECT_STATUS(unmapped->map(0, 1, kAccessRead).status(), FailedPrecondition, "usage is dispatch; mapping was not");
  auto readOnly = allocateBuffer(*device, 16, {.memory = MemoryType::HostVisible, .access = kAccessRead}).take();
  EXPECT_STATUS(readOnly->map(0, 1, kAccessWrite).status(), FailedPrecondition, "read only");
}

TEST_F(AllocatorTest, RefusesUnknownBits) {
  open();
  EXPECT_STATUS(allocateBuffer(*device, 1, {.usage = 0}).status(), InvalidArgument, "usage is 0");
  EXPECT_STATUS(allocateBuffer(*device, 1, {.usage = 64}).status(), InvalidArgument, "usage is 64");
  EXPECT_STATUS(allocateBuffer(*device, 1, {.access = 4}).status(), InvalidArgument, "access is 4");
  EXPECT_STATUS(allocateBuffer(*device, 1, {.usage = kUsageMapping}).status(), InvalidArgument, "cannot be mapped");
}

TEST_F(AllocatorTest, ImportsAndReleases) {
  open();
  int released = 0;
  std::vector<uint8_t> memory(64);
  {
    auto host = importHostMemory(*device, memory.data(), 64, {}, [&] { ++released; });
    ASSERT_OK(host.status());
    (*(*host)->map(0, 1, kAccessWrite))[0] = 5;
    EXPECT_EQ(memory[0], 5);
    auto foreign = importDeviceMemory(*device, 4096, 64, {}, nullptr);
    ASSERT_OK(foreign.status());
    EXPECT_EQ((*foreign)->address(), 4096u);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_STATUS(importDeviceMemory(*device, 0, 64, {}, nullptr).status(), InvalidArgument, "null address");
  EXPECT_STATUS(importHostMemory(*device, nullptr, 64, {}, nullptr).status(), InvalidArgument, "a null address");
}

TEST_F(AllocatorTest, EveryFailureLeavesNothing) {
  open();
  for (const char *function :
       {"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemHostGetDevicePointer_v2", "cuMemHostRegister_v2"}) {
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    uint8_t byte = 0;
    const std::string name = function;
    auto buffer = name == "cuMemAlloc_v2"          ? allocateBuffer(*device, 8, {})
                  : name == "cuMemHostRegister_v2" ? importHostMemory(*device, &byte, 1, {}, nullptr)
                                                   : allocateBuffer(*device, 8, {.memory = MemoryType::HostVisible});
    EXPECT_STATUS(buffer.status(), ResourceExhausted, function);
  }
  fake.failures.clear();
  EXPECT_EQ(fake.liveAllocations, 0);
}

TEST_F(AllocatorTest, AsksForMemoryInfo) {
  open();
  auto info = queryMemory(*device);
  ASSERT_OK(info.status());
  EXPECT_EQ(info->freeBytes, 1000u);
  EXPECT_EQ(info->totalBytes, 4000u);
}

} // namespace tenon::runtime
