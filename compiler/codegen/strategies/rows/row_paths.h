// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads compute a row, and what they keep of it: by its length, where that is known, and where it is not,
// for every range of lengths. Measured: in general the fewest threads that have two or four vectors each, so that
// blocks are many and small; from 128 KiB on several blocks.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

// Of a block that reads rows in a loop, or holds several rows.
constexpr uint32_t kRowThreads = 256;
constexpr int64_t kAnyLength = INT64_MAX;

/// How rows are computed: each by `lanes` threads of each of `blocks` blocks, each of which keeps `chunks` vectors in
/// registers and `shared` more in shared memory; no chunks: it reads them again. Several blocks are a cluster; on a
/// target without clusters the first of them computes the row alone, and reads it again.
struct RowPath {
  int64_t above = 0, longest = kAnyLength; // elements of a row
  uint32_t lanes = kRowThreads;
  uint32_t chunks = 0;
  uint32_t shared = 0; // of clusters only
  uint32_t blocks = 1;
  uint32_t threads = kRowThreads;
  uint32_t rows = 1; // that a group of lanes loads together
  // Which of several kernels runs, beside the length: how many rows there are.
  int64_t moreRowsThan = 0, mostRows = kAnyLength;
};

/// Whether a path of any length is also for rows that are a few elements longer than its vectors: what is around the
/// vectors of ragged rows takes no place of one (row_vectors.h). Where lanes are few, that costs more than it is worth.
constexpr bool holdsEdges(uint32_t lanes) {
  return lanes > 32;
}

/// What a kernel needs of its rows.
struct RowDemand {
  uint32_t width;   // elements of a vector
  uint32_t bytes;   // of the vectors of all those tensors
  bool again;       // read once more when a reduction of them is known, or stored
  uint32_t tensors; // with an element for each of the row's
  bool onePass;     // it is enough to see each element once, anywhere

  static RowDemand of(const KernelFunction &kernel, const GroupShape &shape);
};

/// Rows of a known length. `rows`: how many there are, where that is known.
RowPath rowPath(const RowDemand &demand, int64_t columns, std::optional<int64_t> rows = std::nullopt);
/// Rows of any length and number: of each, one path is for them.
/// @param longest where rows are known to have no more than so many elements: fewer paths
/// @param shortest where rows are known to have so many: fewer, too. 0: they may be empty, and one path is for that
llvm::SmallVector<RowPath> rowPathsOfAnyLength(const RowDemand &demand, std::optional<int64_t> longest = std::nullopt,
                                               int64_t shortest = 0);

} // namespace tenon::compiler::codegen
