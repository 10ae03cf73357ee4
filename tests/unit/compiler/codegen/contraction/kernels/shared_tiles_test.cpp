// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/shared_tiles.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

#include <set>

namespace tenon::compiler::codegen {
namespace {

// What is computed from known numbers is known, so that each item can be asked for.
class SharedTilesTest : public KernelWriterTest {
protected:
  static int64_t known(mlir::Value value) { return constant(value).value_or(-1); }

  /// Each step of each tile is in one item, and who ends a tile finds what all other parts of it have left.
  void check(int64_t tiles, int64_t steps, uint32_t inRound, uint32_t parts) {
    KernelBuilder &k = begin();
    SharedTiles shared(k, k.number(tiles), k.number(steps), inRound, parts);
    std::vector<std::vector<int>> computed(tiles, std::vector<int>(steps, 0));
    std::vector<std::vector<int64_t>> left(tiles);
    std::set<int64_t> all;
    const int64_t items = known(shared.items());
    ASSERT_GT(items, 0);
    for (int64_t number = 0; number < items; ++number) {
      const SharedTiles::Item item = shared.item(k.number(number));
      const int64_t tile = known(item.tile), begin = known(item.begin), end = begin + known(item.count);
      ASSERT_LT(tile, tiles);
      ASSERT_LE(begin, end);
      ASSERT_LE(end, steps);
      for (int64_t step = begin; step < end; ++step)
        ++computed[tile][step];
      const bool isLeft = known(item.isLeft) != 0;
      EXPECT_TRUE(isLeft || end == steps);
      if (isLeft) {
        EXPECT_EQ(known(item.shares), 0);
        EXPECT_TRUE(all.insert(known(item.share)).second) << "two parts leave one share";
        left[tile].push_back(known(item.share));
        continue;
      }
      std::vector<int64_t> added; // parts with lower numbers have left all of them
      for (int64_t share = 0; share < known(item.shares); ++share)
        added.push_back(known(item.share) + share * known(shared.tiles()));
      EXPECT_EQ(added, left[tile]) << "tile " << tile;
    }
    for (int64_t tile = 0; tile < tiles; ++tile)
      EXPECT_EQ(computed[tile], std::vector<int>(steps, 1)) << "tile " << tile;
    EXPECT_TRUE(all.empty() || *all.rbegin() + 1 == int64_t(all.size())) << "shares have numbers from 0 on";
  }
};

TEST_F(SharedTilesTest, EachStepIsComputedOnce) {
  for (auto [tiles, steps] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 40}, {3, 20}, {5, 16}, {8, 2}, {13, 63}})
    for (uint32_t inRound : {1u, 4u, 5u})
      for (uint32_t parts : {1u, 2u, 3u, 4u}) {
        SCOPED_TRACE(std::to_string(tiles) + " tiles of " + std::to_string(steps) + ", " + std::to_string(inRound) +
                     " in a round, " + std::to_string(parts) + " parts");
        check(tiles, steps, inRound, parts);
      }
}

TEST_F(SharedTilesTest, TilesOfFullRoundsAreWhole) {
  KernelBuilder &k = begin();
  SharedTiles shared(k, k.number(28), k.number(16), 10, 2);
  EXPECT_EQ(known(shared.items()), 20 + 2 * 8);
  EXPECT_EQ(known(shared.tiles()), 8);
  const SharedTiles::Item whole = shared.item(k.number(19)), first = shared.item(k.number(20));
  EXPECT_EQ(known(whole.count), 16);
  EXPECT_EQ(known(first.tile), 20);
  EXPECT_EQ(known(first.count), 8);
}

TEST_F(SharedTilesTest, PartsBesideEachOtherAreOfTheSameSteps) {
  KernelBuilder &k = begin();
  SharedTiles shared(k, k.number(5), k.number(30), 10, 3);
  for (int64_t number = 5; number < 10; ++number) {
    const SharedTiles::Item item = shared.item(k.number(number));
    EXPECT_EQ(known(item.tile), number - 5);
    EXPECT_EQ(known(item.begin), 10);
  }
}

} // namespace
} // namespace tenon::compiler::codegen
