// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/stream.h"

#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class StreamTest : public FakeDeviceTest {
protected:
  StreamTest() {
    open();
    buffer = allocateOnStream(*device, 16).take();
    std::vector<uint8_t> bytes(16);
    for (uint8_t i = 0; i < 16; ++i)
      bytes[i] = i;
    EXPECT_TRUE(uploadBytes(*buffer, 0, bytes).ok());
  }
  std::vector<uint8_t> read() {
    std::vector<uint8_t> bytes(16);
    EXPECT_TRUE(downloadBytes(*buffer, 0, bytes).ok());
    return bytes;
  }
  DeviceRange range(uint64_t offset, uint64_t bytes) { return {buffer->address() + offset, bytes}; }

  void TearDown() override { buffer.reset(); }

  std::shared_ptr<Buffer> buffer;
};

TEST_F(StreamTest, UploadsAndDownloads) {
  EXPECT_EQ(read()[15], 15);
}

TEST_F(StreamTest, RefusesTransfersPastTheEnd) {
  std::vector<uint8_t> bytes(9);
  EXPECT_STATUS(uploadBytes(*buffer, 8, bytes), OutOfRange, "9 bytes from byte 8 of a buffer of 16 bytes");
  EXPECT_STATUS(downloadBytes(*buffer, 17, bytes), OutOfRange, "of a buffer of 16 bytes");
}

TEST_F(StreamTest, FillsWithEveryPatternSize) {
  ASSERT_OK(device->stream().fill(range(0, 4), 0xab, 1));
  ASSERT_OK(device->stream().fill(range(4, 4), 0x1234, 2));
  ASSERT_OK(device->stream().fill(range(8, 4), 0x01020304, 4));
  const std::vector<uint8_t> expected = {0xab, 0xab, 0xab, 0xab, 0x34, 0x12, 0x34, 0x12, 4, 3, 2, 1, 12, 13, 14, 15};
  EXPECT_EQ(read(), expected);
}

TEST_F(StreamTest, RefusesFillsThatDoNotDivide) {
  EXPECT_STATUS(device->stream().fill(range(0, 4), 0, 3), InvalidArgument, "1, 2 and 4 are possible");
  EXPECT_STATUS(device->stream().fill(range(0, 6), 0, 4), InvalidArgument, "both must be multiples");
  EXPECT_STATUS(device->stream().fill(range(1, 2), 0, 2), InvalidArgument, "both must be multiples");
}

TEST_F(StreamTest, CopiesApartOnly) {
  ASSERT_OK(device->stream().copy(range(0, 4), range(12, 4)));
  EXPECT_EQ(read()[13], 1);
  EXPECT_STATUS(device->stream().copy(range(0, 4), range(2, 4)), InvalidArgument, "overlapping");
  EXPECT_STATUS(device->stream().copy(range(0, 4), range(8, 2)), InvalidArgument, "a copy of 4 bytes into 2 bytes");
}

TEST_F(StreamTest, EmptyCommandsReachNoDriver) {
  const size_t before = fake.calls.size();
  ASSERT_OK(device->stream().copy(range(0, 0), range(0, 0)));
  ASSERT_OK(device->stream().fill(range(0, 0), 0, 4));
  EXPECT_EQ(fake.calls.size(), before);
}

TEST_F(StreamTest, LaunchesWithAttributesWhereDeclared) {
  CUfunction function = nullptr;
  ASSERT_EQ(device->driver().cuModuleGetFunction(&function, nullptr, "kernel"), CUDA_SUCCESS);
  abi::Launch launch;
  launch.workgroupSize = {64, 2, 1};
  launch.dynamicSharedBytes = 128;
  ASSERT_OK(device->stream().launch(function, {3, 2, 1}, launch, nullptr));
  launch.cluster = {2, 1, 1};
  launch.cooperative = true;
  launch.programmaticDependentLaunch = true;
  ASSERT_OK(device->stream().launch(function, {4, 1, 1}, launch, nullptr));
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_FALSE(fake.launches[0].extended);
  EXPECT_EQ(fake.launches[0].grid, (std::array<unsigned, 3>{3, 2, 1}));
  EXPECT_EQ(fake.launches[0].block, (std::array<unsigned, 3>{64, 2, 1}));
  EXPECT_EQ(fake.launches[0].sharedBytes, 128u);
  EXPECT_TRUE(fake.launches[1].extended);
  EXPECT_EQ(fake.launches[1].attributes, 3u);
}

TEST_F(StreamTest, FailuresNameTheCall) {
  std::vector<uint8_t> bytes(4);
  for (const char *function : {"cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"}) {
    fake.failures = {{function, CUDA_ERROR_ILLEGAL_ADDRESS}};
    EXPECT_STATUS(uploadBytes(*buffer, 0, bytes), Aborted, function);
  }
  fake.failures = {{"cuMemcpyDtoDAsync_v2", CUDA_ERROR_ILLEGAL_ADDRESS}};
  EXPECT_STATUS(device->stream().copy(range(0, 4), range(8, 4)), Aborted, "cuMemcpyDtoDAsync_v2 of 4 bytes");
  fake.failures = {{"cuMemsetD32Async", CUDA_ERROR_ILLEGAL_ADDRESS}};
  EXPECT_STATUS(device->stream().fill(range(0, 4), 0, 4), Aborted, "cuMemsetD32Async of 1 elements");
  fake.failures.clear();
}

} // namespace tenon::runtime
