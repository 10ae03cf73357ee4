// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/plan/lifetime_packing.h"

#include <gtest/gtest.h>

namespace tenon::runtime {

TEST(LifetimePacking, PiecesThatNeverMeetShareMemory) {
  std::vector<PackedPiece> chain = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  EXPECT_EQ(packByLifetime(chain), 2048u);
  EXPECT_EQ(chain[0].offset, chain[2].offset);
  EXPECT_NE(chain[0].offset, chain[1].offset);
}

TEST(LifetimePacking, AGapIsUsed) {
  // The long one lies at 0; the two short ones follow each other in the same place.
  std::vector<PackedPiece> pieces = {{256, 0, 1}, {512, 0, 9}, {256, 2, 3}, {0, 4, 4}};
  EXPECT_EQ(packByLifetime(pieces), 768u);
  EXPECT_EQ(pieces[1].offset, 0u);
  EXPECT_EQ(pieces[0].offset, 512u);
  EXPECT_EQ(pieces[2].offset, 512u);
}

TEST(LifetimePacking, NothingIsNothingAndTooMuchIsSaid) {
  std::vector<PackedPiece> none;
  EXPECT_EQ(packByLifetime(none), 0u);
  std::vector<PackedPiece> huge = {{~uint64_t(0) / 4, 0, 1}, {~uint64_t(0) / 4, 0, 1}, {~uint64_t(0) / 4, 0, 1}};
  EXPECT_EQ(packByLifetime(huge), ~uint64_t(0));
}

// No two pieces whose lifetimes meet overlap, whatever they are.
TEST(LifetimePacking, RandomLifetimesNeverOverlap) {
  uint32_t seed = 7;
  auto random = [&] { return (seed = seed * 1664525 + 1013904223) >> 16; };
  for (int round = 0; round < 100; ++round) {
    std::vector<PackedPiece> pieces(40);
    uint64_t sum = 0;
    for (PackedPiece &piece : pieces) {
      piece.bytes = random() % 5000;
      piece.first = random() % 30;
      piece.last = piece.first + random() % 6;
      sum += (piece.bytes + 255) / 256 * 256;
    }
    const uint64_t total = packByLifetime(pieces);
    EXPECT_LE(total, sum);
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].offset % 256, 0u);
      EXPECT_LE(pieces[i].offset + pieces[i].bytes, total);
      for (size_t j = 0; j < i; ++j)
        if (pieces[i].first <= pieces[j].last && pieces[j].first <= pieces[i].last)
          EXPECT_TRUE(pieces[i].offset + pieces[i].bytes <= pieces[j].offset ||
                      pieces[j].offset + pieces[j].bytes <= pieces[i].offset || pieces[i].bytes == 0 ||
                      pieces[j].bytes == 0);
    }
  }
}

} // namespace tenon::runtime
