// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/stream_arenas.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class StreamArenasTest : public FakeDeviceTest {
protected:
  static CUstream stream(uintptr_t number) { return reinterpret_cast<CUstream>(number); }
  uint64_t take(StreamArenas &arenas, uint64_t id, uint64_t bytes) {
    auto use = arenas.take(stream(id), id, bytes);
    EXPECT_TRUE(use.ok()) << use.status().message();
    EXPECT_GE(use->memory->size(), bytes);
    return use->memory->address();
  }
};

TEST_F(StreamArenasTest, AStreamHasOnePieceThatGrows) {
  StreamArenas arenas(*open());
  const uint64_t first = take(arenas, 16, 1000);
  EXPECT_EQ(take(arenas, 16, 1000), first);
  EXPECT_EQ(take(arenas, 16, 1), first);
  EXPECT_NE(take(arenas, 32, 1000), first);
  EXPECT_EQ(device->statistics().allocations, 2u);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 0u);

  take(arenas, 16, 1001); // a quarter more than there was
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1u);
  const uint64_t grown = take(arenas, 16, 1250);
  EXPECT_EQ(take(arenas, 16, 1250), grown);
  EXPECT_EQ(device->statistics().allocations, 3u);
  EXPECT_EQ(device->statistics().frees, 1u);
}

TEST_F(StreamArenasTest, WhereAQuarterMoreIsNotThereItIsAsLargeAsItMust) {
  StreamArenas arenas(*open());
  take(arenas, 16, 1000);
  fake.failures["cuMemAlloc_v2"] = CUDA_ERROR_OUT_OF_MEMORY;
  const auto use = arenas.take(stream(16), 16, 1100);
  EXPECT_EQ(use.status().code(), StatusCode::ResourceExhausted);
  fake.failures.clear();
  take(arenas, 16, 1100);
}

TEST_F(StreamArenasTest, TheStreamNotUsedForLongestMakesRoom) {
  StreamArenas arenas(*open());
  for (uint64_t id = 1; id <= 16; ++id)
    take(arenas, id, 64);
  take(arenas, 1, 64);
  EXPECT_EQ(device->statistics().frees, 0u);
  take(arenas, 17, 64); // instead of 2
  EXPECT_EQ(device->statistics().frees, 1u);
  const uint64_t before = device->statistics().allocations;
  take(arenas, 1, 64);
  EXPECT_EQ(device->statistics().allocations, before);
  take(arenas, 2, 64);
  EXPECT_EQ(device->statistics().allocations, before + 1);
}

// The driver waits for work where memory is freed. What waits and frees nothing would end a capture in any mode.
TEST_F(StreamArenasTest, GoesWhileAnotherThreadCaptures) {
  open();
  {
    StreamArenas arenas(*device);
    for (uint64_t id = 1; id <= 17; ++id) {
      take(arenas, id, 64);
      fake.capturing = id < 16 ? nullptr : stream(99);
    }
  }
  EXPECT_FALSE(fake.isCaptureBroken);
  EXPECT_EQ(fake.captureMode, CU_STREAM_CAPTURE_MODE_GLOBAL); // as it was
  EXPECT_EQ(device->statistics().frees, 17u);
  fake.capturing = nullptr;
}

} // namespace tenon::runtime
