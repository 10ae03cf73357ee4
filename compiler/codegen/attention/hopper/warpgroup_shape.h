// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attentions Hopper's warpgroups compute, and in which tiles.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupAttentionThreads = 384, kWarpgroupAttentionRows = 128;

struct WarpgroupAttentionShape {
  static constexpr uint32_t kKeys = 128, kTileDepth = 64; // of a block of keys; of a tile of its depth

  uint32_t depth, columns;             // 64 or 128
  std::optional<TileMap> keys, values; // both or none

  /// Nothing where it cannot compute the attention.
  static std::optional<WarpgroupAttentionShape> of(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
