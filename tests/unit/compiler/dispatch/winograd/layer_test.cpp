// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/layer.h"

#include "tests/unit/compiler/dispatch/winograd/layers.h"

namespace tenon::compiler::dispatch {
namespace {

using LayerTest = WinogradTest;

TEST_F(LayerTest, ChannelsLast) {
  const auto found = layer({});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->isOfFilters);
  EXPECT_FALSE(found->isBackwards);
  EXPECT_EQ(found->window, 3);
  EXPECT_EQ(found->images, 8);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->places, (std::array<int64_t, 2>{32, 30}));
  EXPECT_EQ(found->low, (std::array<int64_t, 2>{0, 0}));
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_FALSE(found->isFirstSummed);
  EXPECT_EQ(found->operations(), 2.0 * 8 * 32 * 30 * 64 * 48 * 9);
}

TEST_F(LayerTest, ChannelsFirst) {
  const auto found = layer({.image = "d0, d4, d2 + d5, d3 + d6", .filters = "d4, d1, d5, d6", .out = "d0, d1, d2, d3"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 2, 3, 1}));
  EXPECT_TRUE(found->isFirstSummed);
}

TEST_F(LayerTest, FiltersThatAreReadBackwards) {
  const auto found = layer({.image = "d0, d2 - d5 + 2, d3 - d6 + 2, d4"});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isBackwards);
  EXPECT_EQ(found->low, (std::array<int64_t, 2>{0, 0}));
}

TEST_F(LayerTest, TheGradientByFilters) {
  // Loops: k, c of filters, r, s; n, y, x.
  const auto found = layer({.image = "d6, d4 + d2, d5 + d3, d1",
                            .filters = "d6, d4, d5, d0",
                            .out = "d0, d2, d3, d1",
                            .sizes = {48, 64, 3, 3, 32, 30, 8},
                            .reductions = 3});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isOfFilters);
  EXPECT_EQ(found->window, 3);
  EXPECT_EQ(found->images, 8);
  EXPECT_EQ(found->channels, 64);
  EXPECT_EQ(found->filters, 48);
  EXPECT_EQ(found->places, (std::array<int64_t, 2>{32, 30}));
  EXPECT_EQ(found->ofImage, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOther, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(found->ofOut, (std::array<int64_t, 4>{0, 1, 2, 3}));
  EXPECT_FALSE(found->isFirstOfImage);
}

TEST_F(LayerTest, OthersAreNone) {
  EXPECT_FALSE(layer({.type = "f64"}));
  EXPECT_FALSE(layer({.image = "d0, d2 * 2 + d5, d3 * 2 + d6, d4"})) << "in steps of two";
  EXPECT_FALSE(layer({.image = "d0, d2 + d5 * 2, d3 + d6 * 2, d4"})) << "dilated";
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 3, 5}})) << "no square";
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 4, 4}}));
  EXPECT_FALSE(layer({.sizes = {8, 48, 32, 30, 64, 7, 7}}));
  EXPECT_FALSE(layer({.image = "d0, d2 + d5, d3 - d6 + 2, d4"})) << "one side backwards";
  EXPECT_FALSE(layer({.start = "1.0"})) << "sums that start from something";
  EXPECT_TRUE(layer({.sizes = {8, 48, 32, 30, 64, 5, 5}}));
}

} // namespace
} // namespace tenon::compiler::dispatch
