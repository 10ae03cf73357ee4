// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which chains Hopper's warpgroups compute (warpgroup_chain.h), and in which tiles.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupChainThreads = 384, kWarpgroupChainRows = 128;

struct WarpgroupChainShape {
  llvm::SmallVector<uint32_t, 2> depths;   // of the inner products: 64 or 128
  uint32_t columns;                        // 64 or 128
  uint32_t keys;                           // of a block: 128, or 64 where scores of two products take the registers
  llvm::SmallVector<TileMap, 2> rightMaps; // of their right factors
  TileMap valueMap;
  std::optional<unsigned> shared;     // the inner product whose right factor the values are
  std::optional<unsigned> twinShared; // of twins: that whose right factor the other's values are

  /// Of twins: what weights are computed from beside scores, f32 that each key has one of, whatever the row; they are
  /// brought with the block of keys. Inputs of the operation that computes the weights.
  llvm::SmallVector<unsigned, 2> vectors = {};

  /// Nothing where it cannot compute the chain.
  static std::optional<WarpgroupChainShape> of(const GroupShape &shape, const Attention &attention);
  /// What is brought for a block of keys.
  uint32_t copies() const { return depths.size() + (shared ? 0 : 1); }
  /// Of them, in order.
  llvm::SmallVector<const TileMap *> maps() const;
};

} // namespace tenon::compiler::codegen
