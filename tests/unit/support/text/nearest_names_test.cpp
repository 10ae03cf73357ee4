// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/text/nearest_names.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(NearestNames, CountsEdits) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("sm_80", "sm_08"), 1u) << "a swap of neighbours is one edit";
}

TEST(NearestNames, OffersNearestFirstAndLeavesStrangersOut) {
  std::vector<std::string> known = {"relu", "simple_mul_inplace", "simple_mul2", "simple_mull"};
  EXPECT_EQ(nearestNames("simple_mul", known),
            (std::vector<std::string>{"simple_mul2", "simple_mull", "simple_mul_inplace"}));
  EXPECT_TRUE(nearestNames("softmax", known).empty());
}

// Two edits make any name of two characters out of another one.
TEST(NearestNames, NamesThatShareNothingAreNotNear) {
  const std::vector<std::string> known = {"G", "cu", "p", "q1"};
  EXPECT_EQ(nearestNames("p1", known), (std::vector<std::string>{"p", "q1"}));
}

TEST(NearestNames, QuotesLists) {
  EXPECT_EQ(quotedList(std::vector<std::string>{"a"}), "'a'");
  EXPECT_EQ(quotedList(std::vector<std::string>{"a", "b", "c"}, "or"), "'a', 'b' or 'c'");
}

} // namespace
} // namespace tenon
