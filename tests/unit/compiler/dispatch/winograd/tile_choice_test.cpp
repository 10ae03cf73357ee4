// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/tile_choice.h"

#include <gtest/gtest.h>

namespace tenon::compiler::dispatch {
namespace {

WindowLayer layerOf(int64_t images, int64_t size, int64_t channels, int64_t filters, int64_t window,
                    bool isOfFilters = false) {
  WindowLayer layer;
  layer.isOfFilters = isOfFilters;
  layer.images = images;
  layer.places = {size, size};
  layer.channels = channels;
  layer.filters = filters;
  layer.window = window;
  return layer;
}

/// 0: none.
int64_t sideOf(const WindowLayer &layer, std::optional<int64_t> side = std::nullopt) {
  const std::optional<TileMatrices> found = tilesOf(layer, side);
  return found ? found->side : 0;
}

TEST(TileChoice, ManyChannelsArePutInLargeTiles) {
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 3)), 6);
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 3, true)), 6);
  EXPECT_EQ(sideOf(layerOf(32, 28, 256, 256, 5)), 8);
}

TEST(TileChoice, FewChannelsAreNot) {
  EXPECT_EQ(sideOf(layerOf(32, 224, 3, 64, 3)), 0) << "planes take longer than products";
  EXPECT_EQ(sideOf(layerOf(32, 112, 8, 8, 3)), 0);
}

TEST(TileChoice, SmallOnesAreOverBeforeFourKernelsAre) {
  EXPECT_EQ(sideOf(layerOf(1, 14, 64, 64, 3)), 0);
}

TEST(TileChoice, AProgramMaySayHowLarge) {
  EXPECT_EQ(sideOf(layerOf(1, 5, 4, 4, 3), 4), 4);
  EXPECT_EQ(sideOf(layerOf(1, 5, 4, 4, 3), 6), 6);
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 3), 5), 0) << "nobody has such matrices";
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 5), 4), 0) << "a window of 5 x 5 leaves one result";
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 3), 8), 0) << "too inexact";
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 5), 8), 8);
  EXPECT_EQ(sideOf(layerOf(4, 64, 256, 256, 5), 6), 6);
}

TEST(TileChoice, PlanesTakeNoMoreThanAProgramBears) {
  const TileMatrices matrices = TileMatrices::of(4, 3);
  EXPECT_EQ(bytesOfPlanes(layerOf(4, 64, 256, 192, 3), matrices), 4.0 * 36 * (1024 * (256 + 192) + 256 * 192));
  EXPECT_EQ(sideOf(layerOf(32, 128, 256, 256, 3)), 6);
  EXPECT_EQ(sideOf(layerOf(64, 128, 256, 256, 3)), 0) << "4.5 GiB";
}

TEST(TileChoice, ChannelsAreLastWhereProductsAreMostOfTheTime) {
  const TileMatrices matrices = TileMatrices::of(3, 4);
  EXPECT_TRUE(areChannelsLast(layerOf(4, 64, 256, 256, 3, true), matrices));
  EXPECT_TRUE(areChannelsLast(layerOf(32, 7, 512, 512, 3, true), matrices));
  EXPECT_FALSE(areChannelsLast(layerOf(32, 28, 128, 128, 3, true), matrices));
  EXPECT_FALSE(areChannelsLast(layerOf(32, 56, 64, 64, 3, true), matrices));
}

TEST(TileChoice, SumsOfFewTilesAreTakenInParts) {
  const TileMatrices matrices = TileMatrices::of(3, 4);
  EXPECT_GT(partsOfSum(layerOf(32, 14, 256, 256, 3, true), matrices), 1) << "288 tiles of 128 x 64 are 2.2 rounds";
  EXPECT_EQ(partsOfSum(layerOf(32, 7, 512, 512, 3, true), matrices), 1)
      << "1152 tiles are 8.7 rounds, and 128 terms few";
  EXPECT_EQ(partsOfSum(layerOf(32, 28, 128, 128, 3, true), matrices), 1) << "clusters share the sums of 72 tiles";
  EXPECT_EQ(partsOfSum(layerOf(33, 9, 256, 256, 3, true), matrices), 1) << "297 tiles are no whole parts of 128";
}

TEST(TileChoice, TilesThatEndOutsideCostWhatTheyMultiply) {
  const TileMatrices matrices = TileMatrices::of(4, 3);
  EXPECT_LT(timeInTiles(layerOf(32, 16, 256, 256, 3), matrices),
            1.1 * timeInTiles(layerOf(32, 13, 256, 256, 3), matrices));
  EXPECT_GT(timeInTiles(layerOf(32, 17, 256, 256, 3), matrices),
            1.3 * timeInTiles(layerOf(32, 16, 256, 256, 3), matrices));
}

} // namespace
} // namespace tenon::compiler::dispatch
