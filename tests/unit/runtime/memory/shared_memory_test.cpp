// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/shared_memory.h"

#include "runtime/memory/allocator.h"
#include "tests/unit/runtime/fixture.h"

#include <unistd.h>

namespace tenon::runtime {

using namespace tenon::test;

class SharedMemoryTest : public FakeDeviceTest {
protected:
  SharedMemoryTest() { open(); }
  void TearDown() override {
    EXPECT_EQ(fake.liveHandles, 0);
    EXPECT_EQ(fake.liveReservations, 0);
    EXPECT_EQ(fake.liveMappings, 0);
  }
};

TEST_F(SharedMemoryTest, GoesOutAndComesBack) {
  auto buffer = allocateShareable(*device, 100, {}).take();
  EXPECT_EQ(buffer->size(), 100u);
  EXPECT_EQ(device->deviceBytesLive(), 4096u); // the fake's granularity
  auto descriptor = exportDescriptor(*buffer);
  ASSERT_OK(descriptor.status());
  EXPECT_EQ(fake.liveHandles, 0); // only mappings
  auto again = importDescriptor(*device, *descriptor, 100, {});
  ASSERT_OK(again.status());
  EXPECT_EQ(fake.liveMappings, 2);
  buffer.reset();
  close(*descriptor);
  EXPECT_EQ(fake.liveMappings, 1);
  again = makeError(StatusCode::Aborted, "over");
  EXPECT_EQ(device->deviceBytesLive(), 0u);
}

TEST_F(SharedMemoryTest, EveryFailureIsUndone) {
  for (const char *function :
       {"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(allocateShareable(*device, 100, {}).status(), ResourceExhausted, function);
    EXPECT_EQ(fake.liveHandles + fake.liveReservations + fake.liveMappings, 0) << function;
    EXPECT_EQ(device->deviceBytesLive(), 0u);
  }
  fake.failures.clear();
  auto buffer = allocateShareable(*device, 100, {}).take();
  for (const char *function : {"cuMemRetainAllocationHandle", "cuMemExportToShareableHandle"}) {
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(exportDescriptor(*buffer).status(), ResourceExhausted, function);
  }
  fake.failures = {{"cuMemImportFromShareableHandle", CUDA_ERROR_NOT_SUPPORTED}};
  EXPECT_STATUS(importDescriptor(*device, 5, 100, {}).status(), Unimplemented, "of descriptor 5");
  fake.failures.clear();
}

TEST_F(SharedMemoryTest, RefusesWhatCannotBe) {
  auto other = allocateBuffer(*device, 100, {}).take();
  fake.failures = {{"cuMemRetainAllocationHandle", CUDA_ERROR_INVALID_VALUE}};
  EXPECT_STATUS(exportDescriptor(*other).status(), FailedPrecondition, "only memory of allocateShareable");
  fake.failures.clear();
  EXPECT_STATUS(importDescriptor(*device, -1, 100, {}).status(), InvalidArgument, "-1 is none");
  EXPECT_STATUS(allocateShareable(*device, 100, {.usage = kUsageMapping}).status(), InvalidArgument, "mapped");
  EXPECT_STATUS(allocateShareable(*device, ~uint64_t(0), {}).status(), ResourceExhausted, "were asked for");
  device->setMemoryLimit(5000);
  EXPECT_STATUS(allocateShareable(*device, 5000, {}).status(), ResourceExhausted, "of the limit of 5000");
}

} // namespace tenon::runtime
