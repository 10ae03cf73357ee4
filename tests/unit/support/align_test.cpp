// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/align.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Align, RoundsUpToAnyUnit) {
  EXPECT_EQ(alignUp(uint64_t(0), 16), 0u);
  EXPECT_EQ(alignUp(uint64_t(1), 16), 16u);
  EXPECT_EQ(alignUp(uint64_t(16), 16), 16u);
  EXPECT_EQ(alignUp(uint32_t(13), 12), 24u);
}

TEST(Align, CountsUnits) {
  EXPECT_EQ(ceilDiv(uint64_t(0), 32), 0u);
  EXPECT_EQ(ceilDiv(uint64_t(1), 32), 1u);
  EXPECT_EQ(ceilDiv(uint64_t(64), 32), 2u);
  EXPECT_EQ(ceilDiv(uint64_t(65), 32), 3u);
}

} // namespace
} // namespace tenon
