// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/permutation.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tenon::emulator {
namespace {

TEST(Shuffle, VisitsEveryPlaceOnce) {
  for (uint64_t count : {1, 2, 3, 7, 8, 12, 31, 32, 1000})
    for (uint64_t seed : {1, 2, 3, 99}) {
      std::set<uint64_t> seen;
      for (uint64_t k = 0; k < count; ++k)
        seen.insert(permuted(k, count, seed));
      EXPECT_EQ(seen.size(), count) << seed;
      EXPECT_LT(*seen.rbegin(), count);
    }
}

TEST(Shuffle, SeedZeroChangesNothingAndOthersDiffer) {
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<uint64_t> order;
    for (uint64_t k = 0; k < 100; ++k)
      order.push_back(permuted(k, 100, seed));
    if (seed == 0)
      for (uint64_t k = 0; k < 100; ++k)
        EXPECT_EQ(order[k], k);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 4u);
}

TEST(Shuffle, LargeCountsDoNotOverflow) {
  uint64_t count = (1ull << 62) + 7;
  EXPECT_LT(permuted(count - 1, count, 5), count);
}

} // namespace
} // namespace tenon::emulator
