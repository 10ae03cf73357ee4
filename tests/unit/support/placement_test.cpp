// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/placement.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Placement, PutsEachAtItsAlignment) {
  Placement places;
  EXPECT_EQ(places.end(), 0u);
  EXPECT_EQ(places.alignment(), 1u);
  EXPECT_EQ(places.place(1, 1), 0u);
  EXPECT_EQ(places.place(8, 8), 8u);
  EXPECT_EQ(places.place(2, 2), 16u);
  EXPECT_EQ(places.place(4, 4), 20u);
  EXPECT_EQ(places.place(0, 64), 64u);
  EXPECT_EQ(places.end(), 64u);
  EXPECT_EQ(places.alignment(), 64u);
}

TEST(Placement, BeginsWhereItIsTold) {
  Placement places(0x401);
  EXPECT_EQ(places.place(3, 0), 0x401u);
  EXPECT_EQ(places.place(4, 4), 0x404u);
}

TEST(Placement, TakesAnyAlignment) {
  Placement places(5);
  EXPECT_EQ(places.place(1, 12), 12u);
}

TEST(Placement, StaysAtTheLargestNumber) {
  Placement places;
  places.place(UINT64_MAX, 1);
  EXPECT_EQ(places.end(), UINT64_MAX);
  places.place(8, 8);
  EXPECT_EQ(places.end(), UINT64_MAX);
  places.place(UINT64_MAX, 16);
  EXPECT_EQ(places.end(), UINT64_MAX);
}

} // namespace
} // namespace tenon
