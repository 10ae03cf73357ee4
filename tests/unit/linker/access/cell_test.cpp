// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/cell.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(Cell, TellsPlacesApart) {
  Cell cell;
  EXPECT_TRUE(storeInto(cell, 0, 8, Origins::of(1)));
  EXPECT_TRUE(storeInto(cell, 8, 8, Origins::of(2)));
  EXPECT_FALSE(storeInto(cell, 8, 8, Origins::of(2))) << "nothing new";
  EXPECT_EQ(loadFrom(cell, 0, 8), Origins::of(1));
  EXPECT_EQ(loadFrom(cell, 12, 4), Origins::of(2)) << "a part of it";
  EXPECT_EQ(loadFrom(cell, 4, 8), Origins(Origins::of(1)).join(Origins::of(2))) << "across both";
  EXPECT_TRUE(loadFrom(cell, 16, 8).isNumber());
  EXPECT_TRUE(loadFrom(cell, -8, 8).isNumber());
}

TEST(Cell, BecomesOnePlaceWhenThereAreTooMany) {
  Cell cell;
  for (int64_t i = 0; i < 100; ++i)
    storeInto(cell, i * 8, 8, Origins::of(uint32_t(i % 3)));
  EXPECT_EQ(cell.size(), 1u);
  EXPECT_NE(loadFrom(cell, 4000, 8).plus & slotBit(2), 0u);
}

} // namespace
} // namespace tenon::linker
