// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/warp_tiles.h"

#include "compiler/dialect/hal/default_targets.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler::dispatch {
namespace {

constexpr abi::TargetArch kTuring{75}, kAmpere{80}, kAda{89}, kPlainHopper{90};

TEST(WarpDevice, IsTheSmallestOfAllDevices) {
  const std::optional<WarpDevice> device = WarpDevice::of({kAmpere, kAda});
  ASSERT_TRUE(device);
  EXPECT_EQ(device->number, 80);
  EXPECT_EQ(device->multiprocessors, 108);
  EXPECT_EQ(device->sharedBytes, 100 << 10);
}

TEST(WarpDevice, IsNoneBesideTargetsWithOtherKernels) {
  EXPECT_FALSE(WarpDevice::of(llvm::ArrayRef<abi::TargetArch>()));
  EXPECT_FALSE(WarpDevice::of({kAmpere, kTuring}));
  EXPECT_FALSE(WarpDevice::of({kAmpere, kHopper}));
  EXPECT_FALSE(WarpDevice::of(llvm::ArrayRef<abi::TargetArch>(kDefaultTargets)));
  EXPECT_TRUE(WarpDevice::of(kPlainHopper)) << "without warpgroups";
}

// Of the tiles that were raced on an H200, each of these was the fastest.
TEST(WarpTiles, ModelFindsTheFastest) {
  const WarpDevice device = *WarpDevice::of(kPlainHopper);
  struct Raced {
    double rows, columns, reduced;
    int64_t tileRows, tileColumns;
  };
  for (const Raced &raced : {Raced{4096, 4096, 4096, 128, 256},
                             {2048, 2048, 2048, 128, 256},
                             {8192, 1024, 4096, 128, 256},
                             {1024, 6144, 4096, 128, 128},
                             {256, 4096, 4096, 128, 64},
                             {64, 6144, 4096, 64, 64},
                             {512, 512, 512, 64, 64}}) {
    auto timeOf = [&](const WarpTile &tile) {
      const double tiles = std::ceil(raced.rows / double(tile.rows)) * std::ceil(raced.columns / double(tile.columns));
      return microsecondsOf(tile, device, tiles, 2 * raced.reduced);
    };
    const WarpTile *best = &warpTiles().front();
    for (const WarpTile &tile : warpTiles())
      if (timeOf(tile) < timeOf(*best))
        best = &tile;
    EXPECT_EQ(best->rows, raced.tileRows) << raced.rows << " x " << raced.columns;
    EXPECT_EQ(best->columns, raced.tileColumns) << raced.rows << " x " << raced.columns;
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
