// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon::ptx {
namespace {

bool isAligned(const std::byte *p) {
  return reinterpret_cast<uintptr_t>(p) % 8 == 0;
}

TEST(PtxArena, HandsOutPiecesThatDoNotOverlap) {
  Arena arena;
  std::vector<std::byte *> pieces;
  for (size_t size : {1, 16, 17, 5000, 20000, 3 << 20, 1, 9 << 20, 48}) {
    pieces.push_back(arena.allocate(size));
    ASSERT_TRUE(isAligned(pieces.back()));
    std::memset(pieces.back(), static_cast<int>(pieces.size()), size);
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    EXPECT_EQ(pieces[i][0], std::byte(i + 1));
}

TEST(PtxArena, TakesOfARoomWhatWasUsed) {
  Arena arena;
  std::byte *first = arena.room(1 << 15); // more than the first block has
  arena.take(32);
  EXPECT_EQ(arena.allocate(16), first + 32);
  EXPECT_EQ(arena.room(64), first + 48);
  EXPECT_EQ(arena.allocate(16), first + 48);
}

TEST(PtxArena, ComesBackToItsMemory) {
  Arena arena;
  std::vector<std::byte *> before, again;
  for (int i = 0; i < 300; ++i)
    before.push_back(arena.allocate(40000));
  arena.reset();
  for (int i = 0; i < 300; ++i)
    again.push_back(arena.allocate(40000));
  EXPECT_EQ(before, again);
}

} // namespace
} // namespace tenon::ptx
