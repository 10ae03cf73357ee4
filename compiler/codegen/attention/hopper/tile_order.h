// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tiles a block computes, one after the other, where blocks stay until all tiles are done and nobody hands tiles
// out while they run. Without a mask one tile is as much work as another, and blocks take them in turn. Under a causal
// mask the last rows see most keys. Then tiles of a group of elements of the batch are dealt out from the longest to
// the shortest (of heads that share their keys, rows are several dimensions, and it is the last that a mask looks at),
// each round of them in the direction against the round before:
//
//   round 0   16 16 16 16 15 15      who begins with the longest
//   round 1   13 13 14 14 14 15   <- ends with the shortest
//
// Without a mask, the last tile of each element may have few rows. Blocks begin each round one tile further: the
// numbers of such tiles may have a divisor in common with the number of blocks, and some blocks would have all of them,
// others none. A group has enough tiles for some rounds, and few enough elements that caches hold their keys and
// values: of short elements, whose tiles do not run at once, that is what limits it.
//
// Rounds are even, and tiles are not: of 22 tiles of an element, groups end with rounds that few blocks have a tile in.
// Where the program knows the sizes, and what the mask hides, what tiles take is estimated (tile_times.h), and a table
// says which block has which (tile_table.h), if as many blocks run as a Hopper GPU has multiprocessors.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/attention/hopper/tile_table.h"

namespace tenon::compiler::codegen {

class TileOrder {
public:
  /// Of this block. `isMasked`: rows see different numbers of keys. A tile has all columns.
  /// @param times of the tiles of an element, where they are known
  /// @param parts of the keys of each tile, which blocks have side by side
  TileOrder(const AttentionKernel &kernel, bool isMasked, llvm::ArrayRef<uint32_t> times, uint32_t parts = 1);

  mlir::Value rounds() const { return rounds_; }
  struct Turn {
    mlir::Value exists; // i1: the block has a tile in this round
    AttentionTile tile;
  };
  Turn turn(mlir::Value round) const;

private:
  void useTable(const AttentionKernel &kernel, llvm::ArrayRef<uint32_t> times);
  Turn dealt(mlir::Value round) const;
  Turn tabled(mlir::Value round) const;
  Turn inParts(mlir::Value round) const;

  KernelBuilder &k_;
  const uint32_t tileRows_, parts_;
  mlir::Value batch_, down_; // elements; tiles of one
  mlir::Value inner_;        // tiles of the last dimension of the rows, where they begin together with it; else down_
  mlir::Value group_;        // elements of a group
  mlir::Value roundsOfGroup_, rounds_;
  const bool isMasked_;
  const bool mayBeShort_; // the last tile of an element
  std::optional<TileTable> table_;
  mlir::Value tiles_, isTabled_; // of the table: where it lies; whether as many blocks run
};

} // namespace tenon::compiler::codegen
