// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/free_ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::runtime {
namespace {

FreePoint point(uintptr_t stream, uint64_t order) {
  return {reinterpret_cast<CUstream>(stream), nullptr, order};
}

} // namespace

TEST(FreeRanges, TakesTheSmallestThatFits) {
  FreeRanges free;
  free.add(0, {0, 1024, {}});
  free.add(1, {4096, 512, {}});
  EXPECT_EQ(free.take(512, 256)->begin, 4096u);
  EXPECT_EQ(free.take(512, 256)->begin, 0u);
  EXPECT_EQ(free.bytes(), 512u);
  EXPECT_EQ(free.largest(), 512u);
  EXPECT_FALSE(free.take(768, 256));
}

TEST(FreeRanges, PiecesGrowTogetherWithinASlab) {
  FreeRanges free;
  free.add(0, {0, 1024, {}});
  free.add(1, {1024, 1024, {}}); // beside it, of another slab
  EXPECT_EQ(free.count(), 2u);
  EXPECT_FALSE(free.take(2048, 256));
  for (uint64_t begin : {0, 256, 512, 768})
    EXPECT_EQ(free.take(256, 256)->begin, begin);
  free.add(0, {256, 256, {}});
  free.add(0, {768, 256, {}});
  EXPECT_EQ(free.count(), 3u);
  free.add(0, {512, 256, {}}); // between the two
  EXPECT_EQ(free.largest(), 1024u);
  free.add(0, {0, 256, {}});
  EXPECT_EQ(free.count(), 2u);
  EXPECT_TRUE(free.removeSlab(0, 0, 1024));
  EXPECT_FALSE(free.removeSlab(0, 0, 1024));
  EXPECT_EQ(free.bytes(), 1024u);
}

TEST(FreeRanges, AlignmentLeavesWhatIsBeforeAndBehind) {
  FreeRanges free;
  free.add(0, {256, 4096, {}});
  EXPECT_EQ(free.take(256, 1024)->begin, 1024u);
  EXPECT_EQ(free.count(), 2u);
  EXPECT_EQ(free.bytes(), 3840u);
  EXPECT_FALSE(free.take(3072, 4096)); // large enough, but not from a multiple on
  free.add(0, {1024, 256, {}});
  EXPECT_EQ(free.count(), 1u);
}

TEST(FreeRanges, FrontiersKeepTheLastOfEachStream) {
  FreeRanges free;
  free.add(0, {0, 256, {point(1, 1), point(2, 4)}});
  free.add(0, {256, 256, {point(1, 3)}});
  const Frontier frontier = free.take(512, 256)->frontier;
  ASSERT_EQ(frontier.size(), 2u);
  uint64_t orders = 0;
  for (const FreePoint &at : frontier)
    orders += at.order * (at.stream == point(1, 0).stream ? 100 : 1);
  EXPECT_EQ(orders, 304u);
}

TEST(FreeRanges, BooksAgreeWithAMapOfBytes) {
  constexpr uint64_t kUnits = 64;
  FreeRanges free;
  free.add(0, {0, kUnits, {}});
  std::vector<bool> used(kUnits);
  std::vector<std::pair<uint64_t, uint64_t>> live;
  std::mt19937 random(7);
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 && !live.empty()) {
      const size_t which = random() % live.size();
      auto [begin, bytes] = live[which];
      live.erase(live.begin() + static_cast<ptrdiff_t>(which));
      for (uint64_t i = begin; i < begin + bytes; ++i)
        used[i] = false;
      free.add(0, {begin, bytes, {}});
    } else {
      const uint64_t bytes = 1 + random() % 12, alignment = uint64_t(1) << (random() % 4);
      const auto taken = free.take(bytes, alignment);
      bool possible = false;
      for (uint64_t begin = 0; begin + bytes <= kUnits; begin += alignment) {
        bool isFree = true;
        for (uint64_t i = begin; i < begin + bytes; ++i)
          isFree &= !used[i];
        possible |= isFree;
      }
      // Best fit may look no further than the piece's size says: it finds one wherever there is one.
      ASSERT_EQ(taken.has_value(), possible);
      if (!taken)
        continue;
      ASSERT_EQ(taken->begin % alignment, 0u);
      for (uint64_t i = taken->begin; i < taken->begin + bytes; ++i) {
        ASSERT_FALSE(used[i]);
        used[i] = true;
      }
      live.emplace_back(taken->begin, bytes);
    }
    ASSERT_EQ(free.bytes(), static_cast<uint64_t>(std::count(used.begin(), used.end(), false)));
  }
}

} // namespace tenon::runtime
