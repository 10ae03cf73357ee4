// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tiles each of some blocks computes, where tiles take different times that are known: each tile in turn goes to
// the block that is done first, as if somebody handed them out while blocks run.
#pragma once

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <vector>

namespace tenon::compiler::codegen {

/// Elements of the batch, tiles of each, and whether their rows see different numbers of keys.
struct TileOrderShape {
  // Of elements that come together, about: some rounds of the blocks of a large device, whose caches hold their keys
  // and values.
  static constexpr uint32_t kTilesTogether = 512;

  uint32_t elements, down;
  bool isMasked;
  uint32_t most = UINT32_MAX; // elements that come together at most
};

/// Time until the last of some blocks is done, where they take tiles in turn (tile_order.h).
/// @param times of the tiles of an element, from its first row on
uint64_t dealtTime(const TileOrderShape &shape, llvm::ArrayRef<uint32_t> times, uint32_t blocks);

struct TileTable {
  static constexpr uint16_t kNone = UINT16_MAX;

  uint32_t blocks, rounds;
  std::vector<uint16_t> tiles; // of a block, round after round, and kNone behind the last: element * down + row
  uint64_t time;               // until the last block is done

  /// Nothing of too many tiles. Where fewer elements come together than tiles would have it, as many as fill the blocks
  /// best, down to half of the most.
  static std::optional<TileTable> of(const TileOrderShape &shape, llvm::ArrayRef<uint32_t> times, uint32_t blocks);
};

} // namespace tenon::compiler::codegen
