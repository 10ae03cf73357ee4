// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which chains Hopper's warpgroups compute (warpgroup_chain.h), and in which tiles.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupChainThreads = 384, kWarpgroupChainRows = 128;

// Of triplets (across_sums.h): weights of so many blocks of keys are exchanged; a consumer multiplies a square of the
// third result, which goes through shared memory as boxes of 32 columns.
inline constexpr uint32_t kExchangedBlocks = 3, kAcrossSide = 64, kAcrossBoxColumns = 32;

// Weights that are kept leave shared memory as boxes of so many rows, of a warp, and keys.
inline constexpr uint32_t kKeptRows = 16, kKeptKeys = 64;

struct WarpgroupChainShape {
  llvm::SmallVector<uint32_t, 2> depths;   // of the inner products, whole tiles: 64 or 128
  uint32_t columns;                        // the same of results
  llvm::SmallVector<uint32_t, 2> reduced;  // elements of the depths that there are
  uint32_t results;                        // columns that there are
  uint32_t keys;                           // of a block: 128, or 64 where scores of two products take the registers
  llvm::SmallVector<TileMap, 2> rightMaps; // of their right factors
  TileMap valueMap;
  std::optional<unsigned> shared;     // the inner product whose right factor the values are
  std::optional<unsigned> twinShared; // of twins: that whose right factor the other's values are

  /// Of twins: what weights are computed from beside scores, f32 that each key has one of, whatever the row; they are
  /// brought with the block of keys. Inputs of the operation that computes the weights.
  llvm::SmallVector<unsigned, 2> vectors = {};

  std::optional<TileMap> acrossMap; // of triplets: of the third result, to which blocks add (across_sums.h)
  std::optional<TileMap> keptMap;   // of twins: of the weights that are stored (kept_weights.h)

  /// Nothing where it cannot compute the chain.
  static std::optional<WarpgroupChainShape> of(const GroupShape &shape, const Attention &attention);
  /// What is brought for a block of keys.
  uint32_t copies() const { return depths.size() + (shared ? 0 : 1); }
  /// Of triplets, a block of keys' weights of all rows; and, with the parts of the third result, all that is exchanged.
  uint32_t exchangedBytes() const { return kWarpgroupChainRows * keys * 2; }
  uint32_t acrossBytes() const {
    return acrossMap ? kExchangedBlocks * exchangedBytes() + 2 * kAcrossSide * kAcrossSide * uint32_t(sizeof(float))
                     : 0;
  }
  /// Of twins that keep weights: those of a consumer's rows against a block of keys, two of which may be on their way.
  uint32_t keptBytes() const { return kWarpgroupChainRows / 2 * keys * 2; }
  uint32_t allKeptBytes() const { return keptMap ? 2 * 2 * keptBytes() : 0; }
  /// Of them, in order.
  llvm::SmallVector<const TileMap *> maps() const;
};

} // namespace tenon::compiler::codegen
