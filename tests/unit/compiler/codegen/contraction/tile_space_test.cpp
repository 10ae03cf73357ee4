// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_space.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

TEST(TilesOfBand, AreSquaresOfWhatRunsAtOnce) {
  EXPECT_EQ(tilesOfBand(64, 128, 256, 1), 16); // 2048 x 2112
  EXPECT_EQ(tilesOfBand(32, 128, 256, 2), 8);  // the same of pairs
  EXPECT_EQ(tilesOfBand(32, 256, 128, 1), 8);
  EXPECT_EQ(tilesOfBand(110, 64, 64, 1), 11); // 704 x 768
}

TEST(TilesOfBand, AreAsManyInAllBands) {
  EXPECT_EQ(tilesOfBand(17, 128, 256, 1), 9);
  EXPECT_EQ(tilesOfBand(40, 128, 256, 1), 14);
}

TEST(TilesOfBand, AreNoMoreThanThereAre) {
  EXPECT_EQ(tilesOfBand(3, 128, 256, 1), 3);
  EXPECT_EQ(tilesOfBand(1, 128, 256, 2), 1);
  EXPECT_EQ(tilesOfBand(0, 128, 256, 1), 1);
}

} // namespace
} // namespace tenon::compiler::codegen
