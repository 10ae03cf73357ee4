// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on Hopper (sm_90a; f16, bf16): a producer warpgroup brings blocks of 128 keys and their values
// (key_value_copies.h), consumers have 64 queries each (query_group.h). Blocks are as many as fit, and each
// computes tile after tile (tile_order.h): keys of the next tile are on their way while this one's result is written.
#pragma once

#include "compiler/codegen/attention/hopper/warpgroup_shape.h"
#include "compiler/codegen/attention/left_parts.h"

namespace tenon::compiler::codegen {

/// Shared memory, dynamic.
uint32_t warpgroupAttentionBytes(const WarpgroupAttentionShape &shape);
/// @param tensorMaps of keys and values, or none
/// @param parts what blocks leave that share the keys of a tile; null: they have whole tiles
void writeWarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                             mlir::ValueRange tensorMaps, const KeyParts *parts = nullptr);

} // namespace tenon::compiler::codegen
