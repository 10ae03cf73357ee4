// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on Hopper (sm_90a; f16, bf16): a producer warpgroup brings blocks of 128 keys and their values
// (key_value_copies.h), two consumers have 64 queries each (query_group.h). Blocks are as many as fit, and each computes
// tile after tile (tile_order.h): keys of the next tile are on their way while this one's result is written.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupAttentionThreads = 384, kWarpgroupAttentionRows = 128;

struct WarpgroupAttentionShape {
  uint32_t depth, columns;             // 64 or 128
  std::optional<TileMap> keys, values; // both or none

  /// Nothing where it cannot compute the attention.
  static std::optional<WarpgroupAttentionShape> of(const GroupShape &shape, const Attention &attention);
};

/// Shared memory, dynamic.
uint32_t warpgroupAttentionBytes(const WarpgroupAttentionShape &shape);
/// @param tensorMaps of keys and values, or none
void writeWarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                             mlir::ValueRange tensorMaps);

} // namespace tenon::compiler::codegen
