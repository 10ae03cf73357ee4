// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on Hopper (sm_90a; f16, bf16): a producer warpgroup brings blocks of 128 keys and their values, two others
// have 64 queries each. Products are asynchronous, so a warpgroup asks for the scores of the next block and for the
// result of this one, and while the second runs it computes the softmax of the first:
//
//   scores(0) softmax(0) | scores(1), result(0) | softmax(1) | scores(2), result(1) | softmax(2) ... result(n - 1)
//                                       +---- runs under ----+
//
// Keys and values share one ring of slots, in the order in which they are wanted: K0 K1 V0 K2 V1 ... V(n - 1).
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
