// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_paths.h"

#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

RowDemand demand(uint32_t width, uint32_t tensors = 1, bool again = true, bool onePass = false) {
  return {.width = width, .bytes = 16 * tensors, .again = again, .tensors = tensors, .onePass = onePass};
}

/// Vectors that a path keeps of a row.
int64_t kept(const RowPath &path) {
  return int64_t(path.lanes) * path.blocks * (path.chunks + path.shared);
}

void expectPossible(const RowPath &path) {
  EXPECT_TRUE(llvm::isPowerOf2_32(path.lanes) && llvm::isPowerOf2_32(path.blocks) && llvm::isPowerOf2_32(path.rows));
  EXPECT_LE(path.threads, 1024u);
  // Threads exchange values with their warp, or with all of their block.
  EXPECT_TRUE(path.lanes <= 32 ? path.threads % path.lanes == 0 : path.threads == path.lanes);
  if (path.blocks > 1) {
    EXPECT_EQ(path.lanes, path.threads);
  } else {
    EXPECT_EQ(path.shared, 0u);
  }
}

TEST(RowPathsTest, WhatIsKeptIsTheWholeRow) {
  auto expectWhole = [](uint32_t width, uint32_t tensors, int64_t columns) {
    SCOPED_TRACE(columns);
    const RowPath path = rowPath(demand(width, tensors), columns);
    expectPossible(path);
    if (path.chunks == 0)
      return;
    // What is around the vectors of a row has a place of its own (RowVectors::edges).
    const int64_t around = holdsEdges(path.lanes) ? width - 1 : 0;
    EXPECT_GE(kept(path) * width + around, columns);
    EXPECT_LE(path.chunks * width * tensors, std::max(64u, width * tensors));
    // Two blocks share a multiprocessor's memory.
    EXPECT_LE(path.shared * path.threads * 16 * tensors, 113u << 10);
  };
  for (uint32_t width : {2u, 4u, 8u})
    for (uint32_t tensors : {1u, 2u, 3u}) {
      for (int64_t columns = 1; columns < 1 << 21; columns += 1 + columns / 3)
        expectWhole(width, tensors, columns);
      // Rows that fill all vectors of so many threads, and have a few elements more.
      for (int64_t filled = 1024; filled < 1 << 21; filled += std::max<int64_t>(1024, filled / 8 / 1024 * 1024))
        for (int64_t more = 0; more <= width; ++more)
          expectWhole(width, tensors, filled + more);
    }
}

TEST(RowPathsTest, FewRowsTakeMoreThreads) {
  // 512 elements of 4 bytes: a warp for each of many rows, a block for each of few.
  EXPECT_EQ(rowPath(demand(4), 512).lanes, 32u);
  EXPECT_EQ(rowPath(demand(4), 512, 65536).lanes, 32u);
  EXPECT_EQ(rowPath(demand(4), 512, 4096).lanes, 64u);
  EXPECT_EQ(rowPath(demand(4), 512, 16).lanes, 128u);
  EXPECT_EQ(rowPath(demand(8), 1024, 16).lanes, 128u);
  EXPECT_EQ(rowPath(demand(4, 1, /*again=*/false), 1024, 16).lanes, 256u);
  EXPECT_EQ(rowPath(demand(8, 1, /*again=*/false), 1024, 16).lanes, 32u);
  for (bool again : {false, true})
    for (int64_t rows : {1, 100, 5000})
      for (int64_t columns = 1; columns < 1 << 18; columns += 1 + columns / 3) {
        const RowPath path = rowPath(demand(8, 1, again), columns, rows);
        expectPossible(path);
        if (path.chunks != 0) {
          EXPECT_GE(kept(path) * 8, columns);
        }
      }
}

TEST(RowPathsTest, ThreadsOfNarrowElementsHaveTwoVectors) {
  // 128 elements of 2 bytes by eight threads, 1024 by two warps; of two tensors two vectors are there anyway.
  EXPECT_EQ(rowPath(demand(8), 128, 65536).lanes, 8u);
  EXPECT_EQ(rowPath(demand(8), 128, 65536).chunks, 2u);
  EXPECT_EQ(rowPath(demand(8, 2), 128, 65536).lanes, 16u);
  EXPECT_EQ(rowPath(demand(8), 1024, 65536).lanes, 64u);
  EXPECT_EQ(rowPath(demand(8), 1024, 65536).chunks, 2u);
}

TEST(RowPathsTest, ShortRowsOfUnknownLengthTakeFewThreads) {
  auto lanes = [](const RowDemand &demand, int64_t columns) {
    for (const RowPath &path : rowPathsOfAnyLength(demand))
      if (path.above < columns && columns <= path.longest)
        return path.lanes * path.chunks * demand.width;
    return 0U;
  };
  for (uint32_t width : {4U, 8U})
    for (int64_t columns : {3, 9, 16, 20, 40, 64})
      EXPECT_LE(lanes(demand(width), columns), std::max(2 * uint32_t(llvm::PowerOf2Ceil(columns)), width)) << columns;
}

TEST(RowPathsTest, ShortRowsOfUnknownLengthAreTwoVectorsOfAThread) {
  for (uint32_t width : {4U, 8U})
    for (const RowPath &path : rowPathsOfAnyLength(demand(width)))
      if (path.longest > 2 * width && path.longest <= 32 * width) {
        EXPECT_EQ(path.chunks, 2U) << path.longest;
        EXPECT_EQ(path.rows, 1U) << path.longest;
      }
}

/// Places of the path that many rows of so many elements take.
int64_t placesFor(const RowDemand &demand, int64_t columns) {
  for (const RowPath &path : rowPathsOfAnyLength(demand))
    if (path.above < columns && columns <= path.longest && path.mostRows == kAnyLength)
      return kept(path) * demand.width;
  return 0;
}

TEST(RowPathsTest, RowsOfUnknownLengthFillHalfOfTheirPlaces) {
  for (uint32_t width : {4U, 8U})
    for (uint32_t tensors : {1U, 2U})
      for (int64_t columns = 257; columns < 8192; columns += columns / 16)
        EXPECT_LE(placesFor(demand(width, tensors), columns), 2 * columns) << width << " " << tensors << " " << columns;
}

TEST(RowPathsTest, RowsThatAreNotReadAgainAreNotKept) {
  for (int64_t columns : {1, 100, 4096, 1 << 20})
    EXPECT_EQ(rowPath(demand(4, 1, /*again=*/false), columns).chunks, 0u);
}

TEST(RowPathsTest, LongRowsTakeAClusterUnlessOnePassIsEnough) {
  EXPECT_EQ(rowPath(demand(4), 32768).blocks, 1u);
  EXPECT_EQ(rowPath(demand(4), 65536).blocks, 2u);
  EXPECT_EQ(rowPath(demand(4), 131072).blocks, 4u);
  EXPECT_EQ(rowPath(demand(4), 131072).chunks, 6u);
  EXPECT_EQ(rowPath(demand(4), 131072).shared, 10u);
  EXPECT_EQ(rowPath(demand(8), 131072).blocks, 2u);
  EXPECT_EQ(rowPath(demand(4), 262144).blocks, 8u);
  EXPECT_EQ(rowPath(demand(4), 1 << 20).blocks, 1u);
  EXPECT_EQ(rowPath(demand(4), 1 << 20).chunks, 0u);
  EXPECT_EQ(rowPath(demand(4, 1, true, /*onePass=*/true), 131072).blocks, 1u);
}

TEST(RowPathsTest, FewLongRowsTakeLargerClusters) {
  EXPECT_EQ(rowPath(demand(4), 131072, 8192).blocks, 4u);
  EXPECT_EQ(rowPath(demand(4), 131072, 34).blocks, 4u);
  EXPECT_EQ(rowPath(demand(4), 131073, 33).blocks, 8u);
  EXPECT_EQ(rowPath(demand(4), 131073, 1).blocks, 8u);
  EXPECT_EQ(rowPath(demand(8), 131072, 66).blocks, 4u);
  // As long as some of the row stays in shared memory.
  for (uint32_t width : {2u, 4u, 8u})
    for (uint32_t tensors : {1u, 2u, 3u})
      for (int64_t rows : {1, 16, 33, 66, 67, 132, 133})
        for (int64_t columns = 1 << 13; columns < 1 << 21; columns += 1 + columns / 7) {
          const RowPath path = rowPath(demand(width, tensors), columns, rows);
          expectPossible(path);
          if (path.blocks > 1 && path.chunks != 0) {
            EXPECT_GE(path.shared, 1u);
            EXPECT_GE(kept(path) * width + width - 1, columns);
          }
        }
}

TEST(RowPathsTest, FewRowsThatAreReadInLoopsTakeAllMultiprocessors) {
  const RowPath path = rowPath(demand(8, 1, /*again=*/false), 10250974, 12);
  EXPECT_EQ(path.chunks, 0u);
  EXPECT_EQ(path.blocks, 8u);
  EXPECT_EQ(path.threads, 1024u);
  EXPECT_EQ(rowPath(demand(4, 1, false), 1 << 22, 64).blocks, 4u);
  EXPECT_EQ(rowPath(demand(4, 1, false), 1 << 22, 4096).threads, 256u);
  EXPECT_EQ(rowPath(demand(4, 1, false), 4096, 12).blocks, 1u); // too short
  EXPECT_EQ(rowPath(demand(4), 1 << 22, 1).blocks, 8u);         // what no cluster keeps
}

bool isFor(const RowPath &path, int64_t columns, int64_t rows) {
  return columns > path.above && columns <= path.longest && rows > path.moreRowsThan && rows <= path.mostRows;
}

TEST(RowPathsTest, EveryLengthHasOnePath) {
  for (uint32_t width : {1u, 2u, 4u, 8u})
    for (uint32_t tensors : {1u, 2u, 3u})
      for (bool again : {false, true})
        for (bool onePass : {false, true}) {
          const auto paths = rowPathsOfAnyLength(demand(width, tensors, again, onePass));
          llvm::for_each(paths, expectPossible);
          for (int64_t rows : {1, 1000, 100000})
            for (int64_t power = 0; power < 24; ++power)
              for (int64_t columns : {(1 << power) - 1, 1 << power, (1 << power) + 1, 3 << power}) {
                if (columns == 0)
                  continue;
                EXPECT_EQ(llvm::count_if(paths, [&](const RowPath &path) { return isFor(path, columns, rows); }), 1)
                    << rows << " rows of " << columns;
              }
        }
}

TEST(RowPathsTest, WhatIsKeptOfAnyLengthIsTheWholeRow) {
  for (uint32_t width : {1u, 2u, 4u, 8u})
    for (uint32_t tensors : {1u, 2u, 3u})
      for (bool again : {false, true})
        for (const RowPath &path : rowPathsOfAnyLength(demand(width, tensors, again))) {
          if (path.chunks == 0)
            continue;
          // Vectors of the longest row; elements around them where there are lanes for them.
          EXPECT_GE(kept(path), path.longest / width);
          EXPECT_TRUE(kept(path) * width >= path.longest || (holdsEdges(path.lanes) && path.blocks == 1));
          EXPECT_LE(path.shared * path.threads * 16 * tensors, 113u << 10);
        }
}

TEST(RowPathsTest, RowsOfLimitedLengthHaveFewerPaths) {
  for (const uint32_t width : {1u, 4u, 8u})
    for (const bool again : {false, true}) {
      const auto paths = rowPathsOfAnyLength(demand(width, 1, again), 4096, 1);
      EXPECT_LT(paths.size(), rowPathsOfAnyLength(demand(width, 1, again)).size());
      int64_t reached = 0; // each begins where another ends
      for (const RowPath &path : paths) {
        EXPECT_LE(path.above, reached);
        EXPECT_GE(path.lanes, 32u);
        reached = std::max(reached, path.longest);
      }
      EXPECT_GE(reached, 4096);
      const auto orNone = rowPathsOfAnyLength(demand(width, 1, again), 4096);
      for (int64_t rows : {1, 1000, 100000})
        EXPECT_EQ(llvm::count_if(
                      orNone,
                      [&](const RowPath &path) { return path.longest == kAnyLength && isFor(path, kAnyLength, rows); }),
                  1)
            << "no element has one";
    }
}

TEST(RowPathsTest, RowsOfSomeLengthHaveFewerPaths) {
  for (const uint32_t width : {1u, 4u, 8u})
    for (const bool again : {false, true}) {
      const auto paths = rowPathsOfAnyLength(demand(width, 1, again), std::nullopt, 4096);
      EXPECT_LT(paths.size(), rowPathsOfAnyLength(demand(width, 1, again)).size());
      for (int64_t rows : {1, 1000, 100000})
        for (int64_t columns : {1, 4095, 4096, 4097, 8191, 1 << 20}) // shorter ones are computed, too
          EXPECT_EQ(llvm::count_if(paths, [&](const RowPath &path) { return isFor(path, columns, rows); }), 1)
              << rows << " rows of " << columns;
    }
}

TEST(RowPathsTest, FewRowsOfAnyLengthTakeMoreThreads) {
  auto lanes = [](bool again, int64_t columns, int64_t rows) {
    for (const RowPath &path : rowPathsOfAnyLength(demand(4, 1, again)))
      if (isFor(path, columns, rows))
        return path.lanes;
    return 0u;
  };
  EXPECT_EQ(lanes(false, 1024, 16), 256u);
  EXPECT_EQ(lanes(false, 1024, 65536), 32u);
  EXPECT_EQ(lanes(true, 512, 16), 128u);
  EXPECT_EQ(lanes(true, 512, 65536), 32u);
}

TEST(RowPathsTest, LongRowsTakeAClusterOfAnyLength) {
  auto blocks = [](int64_t columns) {
    for (const RowPath &path : rowPathsOfAnyLength(demand(4)))
      if (isFor(path, columns, 1000))
        return path.blocks;
    return 0u;
  };
  EXPECT_EQ(blocks(16384), 1u);
  EXPECT_EQ(blocks(32768), 2u);
  EXPECT_EQ(blocks(32770), 2u);
  EXPECT_EQ(blocks(131072), 4u);
  EXPECT_EQ(blocks(1 << 20), 1u);
}

} // namespace
} // namespace tenon::compiler::codegen
