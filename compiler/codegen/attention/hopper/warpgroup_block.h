// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the warpgroups of Hopper's attention share (warpgroup_attention.h): the memory of their block, the ring of
// keys and values, and the tiles that they compute.
//
//   dynamic shared memory   slots of the ring | queries, two tiles for each consumer | parts of results | barriers
#pragma once

#include "compiler/codegen/attention/hopper/group_tile.h"
#include "compiler/codegen/attention/hopper/tile_order.h"
#include "compiler/codegen/attention/hopper/warpgroup_shape.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/left_parts.h"
#include "compiler/codegen/contraction/stage_ring.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class WarpgroupBlock {
public:
  static constexpr uint32_t kTileDepth = WarpgroupAttentionShape::kTileDepth;
  static constexpr uint32_t kColumnBlock = 64;
  // Barriers of the warpgroups begin behind 0, which is the block's; behind them those by which consumers take turns.
  static constexpr uint32_t kFirstBarrier = 1;
  uint32_t firstTurn() const { return kFirstBarrier + shape.consumers + 1; }

  WarpgroupBlock(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape, mlir::ValueRange tensorMaps,
                 const KeyParts *parts);

  static uint32_t bytes(const WarpgroupAttentionShape &shape);

  bool hasMaps() const { return !tensorMaps.empty(); }
  uint32_t keys() const { return shape.keys(); } // of a block
  /// Whether rows of one consumer may see fewer blocks of keys than rows of another, or be none.
  bool mayPass() const;
  /// Queries of the next tile are on their way while this one is computed, or when its scores are there.
  bool hasNextQueries() const { return !shape.isDeep(); }
  uint32_t depthTiles() const { return WarpgroupAttentionShape::tilesOf(shape.depth); }
  mlir::Value inArena(mlir::Value bytes) { return k.at(arena, k.b.getI8Type(), bytes); }
  mlir::Value slotOf(mlir::Value step);
  /// Queries of this consumer, of a round of tiles.
  mlir::Value queriesOf(mlir::Value round);
  mlir::Value resultPart();

  /// Of all consumers.
  KeyRange rangeOf(const AttentionTile &tile) const;
  /// Of the rows of a consumer alone, where it may see fewer blocks than the tile: the first of these rows is `tile`'s.
  KeyRange rangeOfGroup(const AttentionTile &tile) const { return {kernel, scores, tile, kGroupRows, keys()}; }
  mlir::Value blocksOf(const KeyRange &range) {
    return k.div(k.add(k.sub(range.last(), range.first()), k.number(keys() - 1)), k.number(keys()));
  }
  /// body(round, tile, its keys, its first step in the ring): for each tile of this block. Steps are counted through
  /// all of them, two for each block of keys. `before` runs in each round, also where the block has no tile in it.
  /// @return steps of all tiles
  mlir::Value
  forEachTile(llvm::function_ref<void(mlir::Value)> before,
              llvm::function_ref<void(mlir::Value, const AttentionTile &, const KeyRange &, mlir::Value)> body);

  const AttentionKernel &kernel;
  const WarpgroupAttentionShape &shape;
  const mlir::ValueRange tensorMaps;
  const KeyParts *parts; // null: each block has whole tiles
  KernelBuilder &k;
  TensorCore core;
  const ProductKernel scores, output; // of a consumer
  mlir::Value arena;
  mlir::Value group;   // number of the warpgroup
  mlir::Value thread;  // in it
  mlir::Value isFirst; // of it, who speaks for it
  /// Its threads are a team.
  void asTeam(llvm::function_ref<void()> body) {
    k.asTeam(thread, kGroupThreads, k.add(group, k.number(kFirstBarrier)), body);
  }
  const TileOrder order;
  StageRing ring;
};

} // namespace tenon::compiler::codegen
