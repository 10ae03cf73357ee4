// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attentions Hopper's warpgroups compute, and in which tiles. A producer brings keys and values, and each
// consumer has 64 queries of a tile. All registers of a multiprocessor are theirs, so one block runs on it:
//
//   depths        consumers   queries   keys of a block   registers of a consumer's thread
//   to 64         3           192       128               160
//   to 128        2           128       128               208
//   to 256        2           128       64                232
//   to 128        1           64        128               216
//
// Up to depth 64 an exponential comes with few multiplications, and three consumers hide more of them than two. They
// have no place for other logits than scores that are scaled and hidden, and a tile of 192 queries is too large for
// small programs: two consumers compute those.
//
// Under a causal mask the last rows see most keys, block after block: where tiles of 128 are too few for a device, it
// waits for these. Then a consumer is alone, if so all tiles run at once: up to depth 64 two on a multiprocessor.
//
// Depths are multiples of eight. Keys and values lie in tiles of 64 elements of the depth, rows of 128 bytes that are
// swizzled. Of the last tile a narrower box brings what is there, whose rows begin at multiples of 128 bytes all the
// same; no product reads the rest of them, but for what fills the last 16 of the depth, which the copy makes 0.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

struct WarpgroupAttentionShape {
  static constexpr uint32_t kTileDepth = 64; // of a tile of the depth
  static constexpr uint32_t kGroupRows = 64; // of a consumer

  uint32_t depth, columns; // multiples of 8, up to 256
  /// How keys, or values, are copied: boxes of 64 elements of the depth, and the one behind them.
  struct Boxes {
    std::optional<TileMap> whole, last;
  };
  Boxes keyBoxes, valueBoxes; // of both, or of none
  uint32_t consumers = 2;
  uint32_t parts = 1; // of the keys of a tile, which blocks share (part_results.h)

  /// In the order in which a kernel takes them.
  llvm::SmallVector<const TileMap *, 4> maps() const;
  static uint32_t tilesOf(uint32_t elements) { return llvm::divideCeil(elements, kTileDepth); }

  bool isAlone() const { return consumers == 1; }
  /// Blocks that a multiprocessor has registers for, and that it has memory for.
  uint32_t resident() const { return isAlone() ? 2 : 1; }
  uint32_t fitting() const { return isAlone() && std::max(depth, columns) <= kTileDepth ? 2 : 1; }
  uint32_t ringBytes() const { return (128 << 10) / fitting(); }
  uint32_t threads() const { return (consumers + 1) * 128; }
  /// Of a tile.
  uint32_t rows() const { return consumers * kGroupRows; }
  /// Sums of more columns take the registers of scores, and deeper tiles the memory.
  bool isDeep() const { return std::max(depth, columns) > 128; }
  /// Of a block.
  uint32_t keys() const { return isDeep() ? 64 : 128; }
  // Registers of a thread, multiples of 8: all together no more than the block is given, 168 for each of 384 threads,
  // 128 for each of 512, and of 256 of which there are two blocks.
  uint32_t producerRegisters() const { return consumers == 3 ? 32 : isDeep() || isAlone() ? 40 : 88; }
  uint32_t consumerRegisters() const { return consumers == 3 ? 160 : isDeep() ? 232 : isAlone() ? 216 : 208; }

  /// Nothing where it cannot compute the attention.
  static std::optional<WarpgroupAttentionShape> of(const GroupShape &shape, const Attention &attention);
  /// The same with a consumer that is alone; nothing where that is not worth it.
  static std::optional<WarpgroupAttentionShape> aloneOf(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
