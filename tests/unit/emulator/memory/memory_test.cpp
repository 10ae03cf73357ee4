// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/memory/memory.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if __has_feature(thread_sanitizer) // which moves what is wanted outside of its ranges
constexpr uint64_t kPreferred = 0x7d00'0000'0000ull;
#else
constexpr uint64_t kPreferred = 0x2200'0000'0000ull;
#endif
constexpr uint64_t kArena = 64 << 20;

TEST(EmulatorMemory, GivesTheSameAddressesInEveryRun) {
  Memory memory(kArena, kPreferred);
  ASSERT_TRUE(memory.ok());
  uint64_t a = memory.allocate(100, AllocationKind::Device), b = memory.allocate(4096, AllocationKind::Device);
  EXPECT_EQ(a, kPreferred + 4096);
  EXPECT_EQ(a % Memory::kAlignment, 0u);
  EXPECT_GE(b - a, 100 + Memory::kAlignment); // a guard gap lies between
  EXPECT_EQ(memory.used(), 512u + 4096u);
}

TEST(EmulatorMemory, KnowsWhatAnAddressBelongsTo) {
  Memory memory(kArena, kPreferred);
  uint64_t a = memory.allocate(100, AllocationKind::Device), c = memory.allocate(64, AllocationKind::Constant, "table");
  EXPECT_TRUE(memory.accessible(a, 100, true));
  EXPECT_FALSE(memory.accessible(a, 101, false));
  EXPECT_FALSE(memory.accessible(a - 1, 1, false));
  EXPECT_TRUE(memory.accessible(c, 64, false));
  EXPECT_FALSE(memory.accessible(c, 64, true));
  EXPECT_EQ(memory.find(a + 99)->begin, a);
  EXPECT_EQ(memory.find(a + 100), nullptr);
  EXPECT_NE(memory.describe(a + 104).find("4 bytes past the end of the 100-byte allocation at 0x"), std::string::npos);
  EXPECT_NE(memory.describe(c + 4).find("variable 'table'"), std::string::npos);
  EXPECT_NE(memory.describe(c - 8).find("8 bytes before the 64-byte variable 'table'"), std::string::npos);
  EXPECT_EQ(memory.describe(16), "a null pointer");
  EXPECT_NE(memory.describe(0x1000000).find("a host pointer?"), std::string::npos);
}

TEST(EmulatorMemory, FreedMemoryIsPoisonedAndKeptAside) {
  Memory memory(kArena, kPreferred);
  uint64_t a = memory.allocate(256, AllocationKind::Device);
  memory.host(a)[0] = 1;
  EXPECT_TRUE(memory.free(a));
  EXPECT_FALSE(memory.free(a));
  EXPECT_EQ(memory.host(a)[0], 0xdb);
  EXPECT_NE(memory.allocate(256, AllocationKind::Device), a);
  EXPECT_NE(memory.describe(a + 8).find("8 bytes into the 256-byte allocation at 0x"), std::string::npos);
  EXPECT_NE(memory.describe(a + 8).find(", which was freed"), std::string::npos);
}

TEST(EmulatorMemory, ReusesWhatWasFreedWhenNothingElseIsLeft) {
  Memory memory(kArena, kPreferred);
  for (int round = 0; round < 20; ++round) {
    uint64_t a = memory.allocate(40 << 20, AllocationKind::Device);
    ASSERT_NE(a, 0u);
    EXPECT_TRUE(memory.free(a));
  }
  EXPECT_EQ(memory.allocate(kArena, AllocationKind::Device), 0u);
  EXPECT_EQ(memory.used(), 0u);
}

TEST(EmulatorMemory, PinnedMemoryIsTheHostsToo) {
  Memory memory(kArena, kPreferred);
  uint64_t pinned = memory.allocate(10000, AllocationKind::Pinned);
  ASSERT_NE(pinned, 0u);
  reinterpret_cast<volatile uint8_t *>(pinned)[9999] = 42;
  EXPECT_EQ(memory.host(pinned)[9999], 42);
  EXPECT_TRUE(memory.free(pinned));
}

TEST(EmulatorMemoryDeathTest, DeviceMemoryIsNot) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Memory memory(kArena, kPreferred);
        reinterpret_cast<volatile uint8_t *>(memory.allocate(64, AllocationKind::Device))[0] = 1;
      },
      "");
}

} // namespace
} // namespace tenon::emulator
