// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attentions have so few queries that what takes time is to read keys and values, and how many blocks share the
// keys of a tile. A device reads at its full rate when most of its multiprocessors do; tiles are as many as heads of
// keys, of one sequence perhaps one.
//
//   clusters   up to eight blocks of a tile add up in the memory that they share: of few keys, the fastest
//   parts      any number of blocks, what they have summed in memory: a kernel behind adds it up (key_parts.h)
//
// Of an unknown number of keys both are there, and the program launches one.
//
// Of more than four queries, groups of 16 may share what a block reads: keys and values lie in shared memory then, and
// each warp multiplies some of them by the queries of one group (key_ring.h). So they do of fewer where parts are long.
//
// Of depths or columns above 256 no warp has the registers for all: those of a block share the scores, and each has
// some of the columns (wide_attention.h); of more than 16 rows warpgroups do (wide_groups.h).
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

/// Blocks that share the keys of a tile.
struct KeySharing {
  uint32_t cluster = 1; // blocks of a cluster; 1: there are none
  uint32_t parts = 1;   // of a kernel behind which another adds them up; 1: there is none
  int64_t above = 0;    // keys, where only the program knows how many
  std::optional<int64_t> most = {};
};

struct FewQueriesShape {
  static constexpr uint32_t kRows = 16, kEight = 8, kKeys = 16;             // queries of a group; of a product; keys
  static constexpr uint32_t kLeastWarps = 2, kFewWarps = 4, kManyWarps = 8; // of a block
  static constexpr uint32_t kVector = 8;                                    // elements of 16 bytes
  static constexpr uint32_t kDepthStep = 4 * kVector;                       // of four lanes
  static constexpr uint32_t kColumnStep = 8 * kVector;                      // of eight
  static constexpr uint32_t kTileDepth = 64;                                // of keys in shared memory
  static constexpr uint32_t kMostRows = 128;
  static constexpr int64_t kMostParts = 128;
  static constexpr uint32_t kFewRegisters = 128;                  // elements of a key and of its values
  static constexpr uint32_t kFewColumns = 128;                    // sums of 16 rows of more take too many registers
  static constexpr uint32_t kMostDepth = 256, kMostColumns = 256; // of a warp that has a row's
  static constexpr uint32_t kMostWideDepth = 640, kMostWideColumns = 512; // of warps that share its columns
  static constexpr uint32_t kMostWideRows = 32;                           // of their block
  static constexpr uint32_t kWarpgroupRows = 64;                          // and of warpgroups

  uint32_t rows, depth, columns;
  uint32_t warps;       // of a block
  uint32_t sharing = 0; // groups of rows that read the same keys from shared memory; 0: each warp reads memory itself
  uint32_t sixteens =
      1;               // keys that a warp multiplies at once, 16 each; from shared memory two, where they leave stages
  bool isWide = false; // keys are shared, and sums are of warps that have other columns of the same rows
  bool isPortable = false; // then other targets than sm_90a compute it, too: it has as much shared memory as they have
  bool isInGroups = false; // then warpgroups multiply, each by half of the columns
  bool valuesAreKeys = false; // values are the first elements of the keys: then they are brought with these

  uint32_t threads() const { return 32 * warps; }
  /// Blocks of a multiprocessor: as many as have what a step of the keys takes in registers.
  uint32_t resident() const {
    return isShared() ? 1
                      : kManyWarps / warps * (rows <= kEight && wholeDepth() + wholeColumns() <= kFewRegisters ? 2 : 1);
  }
  bool isShared() const { return sharing != 0; }
  /// Rows that a warp has the queries of, and of its block.
  uint32_t groupRows() const { return columns <= kFewColumns && !isWide ? kRows : kEight; }
  uint32_t rowsOfGroup() const { return std::min(rows, groupRows()); }
  uint32_t blockRows() const { return isInGroups ? kWarpgroupRows : groupRows() * std::max(sharing, 1u); }
  uint32_t rowsOfBlock() const { return std::min(rows, blockRows()); }
  /// Blocks that have other rows and read the same keys.
  uint32_t groups() const { return (rows + blockRows() - 1) / blockRows(); }
  /// Warps of the same rows, each of which has other keys of a step.
  uint32_t slices() const { return isWide ? 1 : warps / std::max(sharing, 1u); }
  uint32_t sliceKeys() const { return kKeys * sixteens; }
  uint32_t stepKeys() const { return sliceKeys() * slices(); }
  /// Products of eight rows.
  uint32_t eights() const { return rowsOfGroup() > kEight ? 2 : 1; }
  uint32_t depthSteps() const { return (depth + kDepthStep - 1) / kDepthStep; }
  uint32_t columnSteps() const {
    const uint32_t steps = (columns + kColumnStep - 1) / kColumnStep;
    return isWide ? (steps + 1) / 2 * 2 : steps; // sixteen columns for each of eight warps
  }
  /// With the elements that steps have and keys do not: zeros, and columns that nobody stores.
  uint32_t wholeDepth() const { return depthSteps() * kDepthStep; }
  uint32_t wholeColumns() const { return columnSteps() * kColumnStep; }
  /// Steps that are on their way while a warp computes one, each of which takes so many registers.
  uint32_t ahead(uint32_t registers) const;
  /// Of keys and their values in shared memory: tiles of 64 elements of the depth, columns, steps that it holds.
  uint32_t depthTiles() const { return (depth + kTileDepth - 1) / kTileDepth; }
  uint32_t stageBytes() const {
    return stepKeys() * (depthTiles() * kTileDepth + (valuesAreKeys ? 0 : wholeColumns())) * 2;
  }
  uint32_t stages() const;
  /// Of the queries in shared memory, where warpgroups multiply.
  uint32_t queryBytes() const { return isInGroups ? kWarpgroupRows * depthTiles() * kTileDepth * 2 : 0; }
  /// Whether keys and values are read in so little time that launching what comes next early pays.
  bool isBrief(const GroupShape &shape, const Attention &attention) const;
  /// One, or those for ranges of numbers of keys, in order.
  llvm::SmallVector<KeySharing, 2> sharings(const GroupShape &shape, const Attention &attention) const;
  /// Nothing where there are more queries, or where elements do not lie as lanes read them.
  static std::optional<FewQueriesShape> of(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
