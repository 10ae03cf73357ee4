// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the three warpgroups of a chain's kernel share (warpgroup_chain.h), whatever its consumers do: the memory of
// their block, the left factors, and the producer, which brings the right ones.
//
//   dynamic shared memory   slots of the ring | left factors of all consumers | parts of their results, or weights of
//                           triplets, or weights that are kept | vectors of each stage | barriers
#pragma once

#include "compiler/codegen/attention/hopper/chain/chain_tiles.h"
#include "compiler/codegen/attention/hopper/group_tile.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/contraction/stage_ring.h"

namespace tenon::compiler::codegen {

class ChainBlock {
public:
  static constexpr uint32_t kConsumers = 2, kTileDepth = 64;
  static constexpr uint32_t kRowBytes = 128; // of a tile: 64 elements
  using Values = llvm::SmallVector<mlir::Value>;
  struct Inner {
    ProductKernel kernel;
    uint32_t depth;   // whole tiles
    uint32_t reduced; // elements that there are
    uint32_t left;    // bytes behind the arena, of the first consumer
  };

  ChainBlock(const AttentionKernel &kernel, const WarpgroupChainShape &shape, mlir::ValueRange tensorMaps);

  static uint32_t bytes(const WarpgroupChainShape &shape);

  /// All warpgroups. `consume`: what a consumer does, a team of a warpgroup.
  void run(llvm::function_ref<void()> consume);

  mlir::Value inArena(mlir::Value bytes) { return k.at(arena, k.b.getI8Type(), bytes); }
  mlir::Value slotOf(mlir::Value step);
  /// Of a block of keys of the head.
  mlir::Value stepOf(mlir::Value key, uint32_t copy);
  /// Its first key among those of all heads.
  mlir::Value inAllHeads(mlir::Value key);
  mlir::Value heads() { return kernel.attention.heads() ? kernel.space.size(*kernel.attention.heads()) : k.number(1); }
  /// Whose rows the values are.
  uint32_t valueCopy() const { return shape.shared.value_or(shape.depths.size()); }
  mlir::Value descriptor(mlir::Value bytes, uint32_t blockBytes) { return tileDescriptor(k, arena, bytes, blockBytes); }

  // A consumer.
  mlir::Value rows() { return k.add(tile.firstRow, k.mul(group, k.number(kGroupRows))); }
  void bringLeft();
  /// Scores of an inner product against a block of keys, in flight behind the call.
  Values scoresOf(uint32_t number, mlir::Value key);
  /// sums += factors * the values that a copy of a block brings, in flight behind the call, and so are the factors.
  Values weighted(mlir::ValueRange factors, mlir::Value key, uint32_t copy, mlir::ValueRange sums);
  /// A block of keys: whether all rows see all of its keys, and whether it may have some behind the last one.
  struct Kind {
    bool isWhole, mayEnd;
  };
  struct Segment {
    mlir::Value first, last;
    Kind kind;
  };
  Kind firstKind() const { return {false, range->mayEnd()}; }
  /// Blocks behind the first one. The last one is computed as those in front of it where nothing but the number of keys
  /// hides any of its keys: another copy of the loop would take registers.
  llvm::SmallVector<Segment> segments() const;
  /// Left factors from weights. Keys behind the last one are hidden where there are some, when all weights are
  /// computed: beside them, the comparisons of every key would take the registers that scores are in.
  Values factorsOf(llvm::ArrayRef<Values> weights, mlir::Value key, Kind kind);
  void release(mlir::Value step);
  /// Of a tile the last products are there: what the block of keys brought may be overwritten.
  void releaseLast(mlir::Value key, llvm::ArrayRef<uint32_t> copies);
  void awaitTurn();
  void passTurn();
  /// Where the vectors of a block of keys lie: f32, those of one, then those of the next.
  mlir::Value vectorsOf(mlir::Value key);
  /// What a warpgroup writes its result through.
  mlir::Value resultPart();
  /// Number of the block of keys among those of all heads, and back: its first key among all.
  mlir::Value numberOf(mlir::Value key) { return k.div(stepOf(key, 0), k.number(shape.copies())); }
  mlir::Value keyOfNumber(mlir::Value number);
  /// Bytes behind the arena: left factors of a consumer, and the memory that triplets exchange weights through.
  mlir::Value leftOf(const Inner &each, mlir::Value consumer);
  uint32_t exchange() const;
  /// All consumers arrive.
  void meetConsumers();

  const AttentionKernel &kernel;
  const WarpgroupChainShape &shape;
  const mlir::ValueRange tensorMaps;
  KernelBuilder &k;
  TensorCore core;
  llvm::SmallVector<Inner, 2> inner;
  ProductKernel output;
  mlir::Value arena;
  mlir::Value group, thread, isFirst; // number of the warpgroup, of the thread in it; whether it speaks for it
  StageRing ring;
  AttentionTile tile;
  std::optional<KeyRange> range; // of the keys of a head
  mlir::Value head;              // whose keys are computed, or brought; of one head alone 0
  mlir::Value firstStep;         // of the tile, in the ring

private:
  void forEachTile(llvm::function_ref<void()> body);
  mlir::Value leftOf(const Inner &each) { return leftOf(each, group); }
  void asTeam(llvm::function_ref<void()> body);
  void turn(const char *instruction, mlir::Value barrier);

  // The producer.
  const ProductKernel &kernelOf(uint32_t copy) const { return copy < inner.size() ? inner[copy].kernel : output; }
  mlir::Value isFast();
  mlir::Value blocksOfHead();
  void forEachBlock(llvm::function_ref<void(mlir::Value)> body);
  void forEachCopy(llvm::function_ref<void(mlir::Value, mlir::Value, uint32_t)> copy);
  void bringVectors(mlir::Value key, mlir::Value position);
  void bringVectorsByWarp();
  void askForBoxes(mlir::Value key, mlir::Value step, uint32_t copy);
  void copyElements(mlir::Value key, mlir::Value step, uint32_t copy, bool isFast);
  void byElements(bool isFast);
  void produce(mlir::Value isFast);

  const ChainTiles tiles_;
};

} // namespace tenon::compiler::codegen
