// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/memory/initialised_map.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

TEST(InitialisedMap, BeginsEmptyAndKeepsBytesApart) {
  InitialisedMap map(4096);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map.firstUnset(0, 4096), 0u);
  map.set(3, 20, true);
  EXPECT_EQ(map.firstUnset(3, 20), 23u);
  EXPECT_EQ(map.firstUnset(2, 4), 2u);
  EXPECT_EQ(map.firstUnset(16, 16), 23u);
  map.set(8, 8, false);
  EXPECT_EQ(map.firstUnset(3, 20), 8u);
  EXPECT_TRUE(map.get(7) && map.get(16) && !map.get(15));
}

TEST(InitialisedMap, CopiesWhatIsNotThere) {
  InitialisedMap map(4096);
  map.set(0, 16, true);
  map.set(5, 1, false);
  map.copy(101, 0, 16);
  EXPECT_EQ(map.firstUnset(101, 16), 106u);
  EXPECT_EQ(map.firstUnset(107, 10), 117u);
  map.copy(1, 0, 16); // overlapping, as memmove
  EXPECT_EQ(map.firstUnset(1, 16), 6u);
}

} // namespace
} // namespace tenon::emulator
