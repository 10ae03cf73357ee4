// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attentions Hopper's warpgroups compute, and in which tiles.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupAttentionThreads = 384, kWarpgroupAttentionRows = 128;

struct WarpgroupAttentionShape {
  static constexpr uint32_t kTileDepth = 64; // of a tile of the depth

  uint32_t depth, columns;                 // multiples of 64, up to 256
  std::optional<TileMap> keyMap, valueMap; // both or none

  /// Sums of more columns take the registers of scores, and deeper tiles the memory.
  bool isDeep() const { return std::max(depth, columns) > 128; }
  /// Of a block.
  uint32_t keys() const { return isDeep() ? 64 : 128; }

  /// Nothing where it cannot compute the attention.
  static std::optional<WarpgroupAttentionShape> of(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
