// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/across_twice.h"

#include "gtest/gtest.h"

namespace tenon::compiler::dispatch {
namespace {

TEST(AcrossTwice, WarpsTakeWhatWaitsForMemory) {
  EXPECT_TRUE(isSoonerByWarps({1, 64, 256, 100352}));
  EXPECT_TRUE(isSoonerByWarps({1, 256, 64, 100352}));
  EXPECT_TRUE(isSoonerByWarps({1, 128, 256, 100352}));
  EXPECT_FALSE(isSoonerByWarps({1, 256, 512, 25088}));
  EXPECT_FALSE(isSoonerByWarps({1, 64, 64, 4096})); // the copy is no longer than its launch
  EXPECT_FALSE(isSoonerByWarps({1, 512, 512, 512}));
  EXPECT_FALSE(isSoonerByWarps({8, 512, 512, 4096}));
  EXPECT_FALSE(isSoonerByWarps({1, 4096, 4096, 4096}));
}

TEST(AcrossTwice, PartsFillMultiprocessors) {
  EXPECT_EQ(partsByWarps({1, 64, 256, 100352}).parts, 98);
  EXPECT_EQ(partsByWarps({1, 256, 64, 100352}).parts, 128);
  // Not of a sum that has no parts of whole steps, nor of many tiles.
  EXPECT_EQ(partsByWarps({1, 64, 256, 10007}).parts, 1);
  EXPECT_EQ(partsByWarps({1, 4096, 4096, 4096}).parts, 1);
  EXPECT_EQ(partsByWarps({1, 64, 64, 128}).parts, 1);
}

} // namespace
} // namespace tenon::compiler::dispatch
