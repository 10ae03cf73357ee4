// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/tile_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler::codegen {
namespace {

std::vector<uint32_t> causalTimes(uint32_t down) {
  std::vector<uint32_t> times(down);
  for (uint32_t row = 0; row < down; ++row)
    times[row] = 2 + 3 * (row + 1);
  return times;
}

uint64_t timeOfBlock(const TileTable &table, const std::vector<uint32_t> &times, uint32_t block) {
  uint64_t time = 0;
  for (uint32_t round = 0; round <= table.rounds; ++round)
    if (const uint16_t tile = table.tiles[block * (table.rounds + 1) + round]; tile != TileTable::kNone)
      time += times[tile % times.size()];
  return time;
}

TEST(TileTableTest, HandsOutEachTileOnce) {
  for (const TileOrderShape &shape :
       {TileOrderShape{128, 22, true}, {512, 6, true}, {7, 1, false}, {200, 5, false}, {512, 4, true, 48}}) {
    const std::vector<uint32_t> times = causalTimes(shape.down);
    const std::optional<TileTable> table = TileTable::of(shape, times, 132);
    ASSERT_TRUE(table);
    ASSERT_EQ(table->tiles.size(), 132u * (table->rounds + 1));
    std::vector<int> seen(shape.elements * shape.down);
    for (uint32_t block = 0; block < 132; ++block) {
      bool isOver = false; // nobody asks behind the first that is none
      for (uint32_t round = 0; round <= table->rounds; ++round) {
        const uint16_t tile = table->tiles[block * (table->rounds + 1) + round];
        EXPECT_TRUE(!isOver || tile == TileTable::kNone);
        isOver |= tile == TileTable::kNone;
        if (tile != TileTable::kNone)
          ++seen.at(tile);
      }
      EXPECT_TRUE(isOver);
    }
    EXPECT_EQ(std::ranges::count(seen, 1), std::ranges::ssize(seen));
  }
}

TEST(TileTableTest, BlocksAreDoneTogether) {
  const TileOrderShape shape{512, 6, true};
  // Of 1024 queries under a causal mask, by three consumers; the last tile has a third of the rows.
  const std::vector<uint32_t> times = {43, 58, 79, 94, 115, 80};
  const std::optional<TileTable> table = TileTable::of(shape, times, 132);
  ASSERT_TRUE(table);
  uint64_t all = 0, longest = 0;
  for (uint32_t block = 0; block < 132; ++block) {
    all += timeOfBlock(*table, times, block);
    longest = std::max(longest, timeOfBlock(*table, times, block));
  }
  EXPECT_EQ(longest, table->time);
  EXPECT_LT(longest * 132, all * 104 / 100);
  EXPECT_LT(table->time * 110 / 100, dealtTime(shape, times, 132)); // six of whose tiles end a round of each group
}

/// The farthest that a block goes back: from the element of a tile to that of the next.
uint32_t farthestBack(const TileTable &table, uint32_t down) {
  uint32_t farthest = 0;
  for (uint32_t block = 0; block < table.blocks; ++block) {
    uint32_t last = 0;
    for (uint32_t round = 0; round <= table.rounds; ++round)
      if (const uint16_t tile = table.tiles[block * (table.rounds + 1) + round]; tile != TileTable::kNone) {
        const uint32_t element = tile / down;
        farthest = std::max(farthest, last > element ? last - element : 0);
        last = element;
      }
  }
  return farthest;
}

TEST(TileTableTest, NoMoreElementsComeTogether) {
  const std::vector<uint32_t> times = causalTimes(4);
  const std::optional<TileTable> free = TileTable::of({512, 4, true}, times, 132),
                                 limited = TileTable::of({512, 4, true, 48}, times, 132);
  ASSERT_TRUE(free && limited);
  EXPECT_GT(farthestBack(*free, 4), 48u);
  EXPECT_LT(farthestBack(*limited, 4), 48u);
  EXPECT_LT(limited->time, free->time * 103 / 100);
}

TEST(TileTableTest, IsOfFewRounds) {
  EXPECT_TRUE(TileTable::of({132 * 7, 8, true}, causalTimes(8), 132));
  EXPECT_FALSE(TileTable::of({132 * 9, 8, true}, causalTimes(8), 132));
  EXPECT_FALSE(TileTable::of({0, 8, true}, causalTimes(8), 132));
}

} // namespace
} // namespace tenon::compiler::codegen
