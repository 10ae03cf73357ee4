// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attentions have so few queries that what takes time is to read keys and values, and how many blocks share the
// keys of a tile. A device reads at its full rate when most of its multiprocessors do; tiles are as many as heads of
// keys, of one sequence perhaps one.
//
//   clusters   up to eight blocks of a tile add up in the memory that they share: of few keys, the fastest
//   parts      any number of blocks, what they have summed in memory: a kernel behind adds it up (key_parts.h)
//
// Of an unknown number of keys both are there, and the program launches one.
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
  static constexpr uint32_t kRows = 16, kHalf = kRows / 2, kKeys = 16; // of a product
  static constexpr uint32_t kFewWarps = 4, kManyWarps = 8;             // of a block
  static constexpr uint32_t kVector = 8;                               // elements of 16 bytes
  static constexpr uint32_t kDepthStep = 4 * kVector;                  // of four lanes
  static constexpr uint32_t kColumnStep = 8 * kVector;                 // of eight
  static constexpr uint32_t kMostRows = 64;
  static constexpr int64_t kMostParts = 128;
  static constexpr uint32_t kFewRegisters = 128; // elements of a key and of its values

  uint32_t rows, depth, columns;
  uint32_t warps; // of a block

  uint32_t threads() const { return 32 * warps; }
  /// Blocks of a multiprocessor: as many as have what a step of the keys takes in registers.
  uint32_t resident() const { return kManyWarps / warps * (rows <= kHalf && depth + columns <= kFewRegisters ? 2 : 1); }
  /// Blocks of 16 rows each, which read the same keys.
  uint32_t groups() const { return (rows + kRows - 1) / kRows; }
  uint32_t rowsOfGroup() const { return std::min(rows, kRows); }
  /// Of the 16 rows of a product: the upper one alone, where no query is in the lower one.
  uint32_t halves() const { return rowsOfGroup() > kHalf ? 2 : 1; }
  uint32_t depthSteps() const { return depth / kDepthStep; }
  uint32_t columnSteps() const { return columns / kColumnStep; }
  /// One, or those for ranges of numbers of keys, in order.
  llvm::SmallVector<KeySharing, 2> sharings(const GroupShape &shape, const Attention &attention) const;
  /// Nothing where there are more queries, or where elements do not lie as lanes read them.
  static std::optional<FewQueriesShape> of(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
