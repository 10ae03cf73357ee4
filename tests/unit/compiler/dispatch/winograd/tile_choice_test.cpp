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
  EXPECT_EQ(sideOf(layerOf(32, 28, 256, 256, 5)), 6);
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
