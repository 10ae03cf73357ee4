// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chain on Hopper (dispatch/attention/chain.h; sm_90a; f16, bf16): a block has 128 rows, two consumers 64 of them
// each. Left factors of the inner products stay in shared memory; a producer brings blocks of 64 or 128 keys, for each
// of them the right factors and the values. A tensor that is both, as the keys are in the gradient by queries, is
// brought once.
//
// A consumer asks for the scores of the next block and for the result of this one, and computes weights while the
// second runs. Consumers take turns, so that one computes weights while products of the other run:
//
//   scores(0) weights(0) | scores(1), result(0) | weights(1) | scores(2), result(1) | weights(2) ... result(n - 1)
//                                       +---- runs under ----+
//
// Of twins each consumer has two results (warpgroup_twins.h), and both values are right factors.
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

/// Shared memory, dynamic.
uint32_t warpgroupChainBytes(const WarpgroupChainShape &shape);
/// @param tensorMaps of maps(), or none
void writeWarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, mlir::ValueRange tensorMaps);

} // namespace tenon::compiler::codegen
