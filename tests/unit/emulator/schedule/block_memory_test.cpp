// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/block_memory.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace tenon::emulator {
namespace {

TEST(EmulatorBlockMemory, GivesAgainWhatItWasGiven) {
  BlockMemory memory;
  uint8_t *first = memory.take(5000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 4096, 0u);
  memset(first, 1, 5000);
  memory.give(first, 5000);
  EXPECT_EQ(memory.kept(), 8192u);
  EXPECT_EQ(memory.take(8000), first); // of the same size of power of two
  EXPECT_EQ(memory.kept(), 0u);
  uint8_t *other = memory.take(8000);
  EXPECT_NE(other, first);
  memset(first + 4096, 2, 4096); // all of it is there
  memory.give(first, 8000);
  memory.give(other, 8000);
  EXPECT_NE(memory.take(4000), nullptr); // another size: new
  EXPECT_EQ(memory.kept(), 16384u);
  memory.give(nullptr, 4096);
  EXPECT_EQ(memory.kept(), 16384u);
}

TEST(EmulatorBlockMemory, KeepsUpToALimit) {
  BlockMemory memory;
  std::vector<uint8_t *> taken;
  for (int k = 0; k < 6; ++k)
    taken.push_back(memory.take(BlockMemory::kKeptBytes / 4));
  for (uint8_t *p : taken)
    memory.give(p, BlockMemory::kKeptBytes / 4);
  EXPECT_EQ(memory.kept(), BlockMemory::kKeptBytes);
  EXPECT_EQ(memory.take(uint64_t(1) << 60), nullptr);
}

TEST(EmulatorBlockMemory, IsOfTheThread) {
  BlockMemory *mine = &BlockMemory::ofThread(), *other = nullptr;
  std::thread([&] { other = &BlockMemory::ofThread(); }).join();
  EXPECT_EQ(&BlockMemory::ofThread(), mine);
  EXPECT_NE(other, mine);
}

} // namespace
} // namespace tenon::emulator
