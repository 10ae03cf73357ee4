// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles of the warpgroups of a product on Hopper (warpgroup_product.h): what they share, and what each does.
//
//   warpgroup_product.cpp    the block: its memory, its tiles, who does what
//   warpgroup_producer.cpp   operands into stages: boxes, copies, rows of experts, an operand that is computed
//   warpgroup_consumer.cpp   products of the stages, and the result
//   warpgroup_registers.cpp  products of a left operand that lies across in tf32
//   warpgroup_turns.cpp      consumers that have whole tiles, one after the other
//   warpgroup_shares.cpp     sums of parts of a tile that another block ends (shared_tiles.h)
//   warpgroup_cluster.cpp    sums of parts of a tile that the blocks of a cluster have
#pragma once

#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/operand_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/codegen/contraction/stage_ring.h"
#include "compiler/codegen/contraction/tile_map.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kStepBytes = 128; // of a step: a row of an operand's tile
// Of a multiprocessor, for the operands of steps to come. More of them hide more of the second-level cache's latency.
inline constexpr uint32_t kOperandBytes = 192 << 10;
// Columns of a result that a consumer has in shared memory at once.
inline constexpr uint32_t kPartColumns = 64;
// Registers of a thread. A block of 384 is given 168 each; sums alone take up to 128.
inline constexpr uint32_t kProducerRegisters = 88, kConsumerRegisters = 208;
// Where sums of all parts have more columns than so many: two parts of the widest tile whose sums a cluster may add.
inline constexpr uint32_t kManyColumns = 288;
inline constexpr uint32_t kProducerBesideMany = 72, kConsumerOfMany = 216;
// Where a step has sums of its own, which take up to 96 more.
inline constexpr uint32_t kFewProducerRegisters = 56, kManyConsumerRegisters = 224;
// Of a block of 512, which is given 128 each: two warpgroups that compute an operand, or shift lines.
inline constexpr uint32_t kComputingRegisters = 88, kFedRegisters = 168;
inline constexpr uint32_t kShiftingRegisters = 104, kFedByLines = 152;
// The same where a consumer has 128 rows.
inline constexpr uint32_t kFewComputingRegisters = 80, kManyFedRegisters = 176;
inline constexpr uint32_t kMostColumnsAtOnce = 192, kColumnsAtOnce = 128;
// Barriers of the three warpgroups begin behind 0, which is the block's.
inline constexpr uint32_t kFirstBarrier = 1;
// Behind those of up to four warpgroups: of both consumers.
inline constexpr uint32_t kBarrierOfConsumers = 5;
// Behind it, of each consumer where they have tiles in turn.
inline constexpr uint32_t kFirstTurn = 6;
inline constexpr uint32_t kFewBlocks = 64;

constexpr uint32_t stageBytesOf(uint32_t rows, uint32_t columns) {
  return (rows + columns) * kStepBytes;
}
constexpr uint32_t stagesOf(uint32_t rows, uint32_t columns) {
  return kOperandBytes / stageBytesOf(rows, columns);
}
/// Where lines are shifted, for what lies beside them behind the stages.
inline uint32_t stagesBesideLines(uint32_t rows, uint32_t columns) {
  return (kOperandBytes - ShiftedLines::bytesOf(rows + columns)) / stageBytesOf(rows, columns);
}
/// Of one consumer. Boxes of a result begin at multiples of 1024.
inline uint32_t partBytes() {
  return llvm::alignTo<1024>(std::max(stagedBytes(kGroupRows, kPartColumns, sizeof(float)), NarrowResult::bytes()));
}
/// Where the parts of results begin in a block's memory: behind the stages, and behind what lies beside lines that are
/// shifted. While a tile's results are there, the lines of the next one arrive.
inline uint32_t partsAt(uint32_t rows, uint32_t columns) {
  const uint32_t stage = stageBytesOf(rows, columns), behind = stagesOf(rows, columns) * stage,
                 behindLines = stagesBesideLines(rows, columns) * stage + ShiftedLines::bytesOf(rows + columns);
  return uint32_t(llvm::alignTo<1024>(std::max(behind, behindLines)));
}
/// Where barriers begin, and behind them the number that a block has from the ticket.
inline uint32_t ringAt(uint32_t rows, uint32_t columns) {
  return partsAt(rows, columns) + kConsumers * partBytes();
}
inline uint32_t ticketAt(uint32_t rows, uint32_t columns) {
  return ringAt(rows, columns) + StageRing::bytes(stagesOf(rows, columns));
}

class WarpgroupProduct {
public:
  explicit WarpgroupProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k), core_(k_, kernel.product.warpElement(), kernel.product.rightWarpElement()),
        producers_(k_.threads / kGroupThreads - kConsumers), shifts_(mayShift(kernel)), first_(kernel_) {
    if (kernel_.tensorMaps.empty())
      return;
    if (kernel_.product.routes) {
      rightMap_ = tightMapOf(kernel_.shape, kernel_.product, kernel_.product.right, kernel_.columns, kernel_.depth);
      return;
    }
    computed_ = ComputedTile::operandOf(kernel_.product, kernel_.shape);
    const uint32_t ofLeft = kernel_.isSideBySide ? kernel_.cluster : 1, ofRight = kernel_.cluster / ofLeft;
    leftMap_ = tightMapOf(kernel_.shape, kernel_.product, kernel_.product.left, kernel_.rows, kernel_.depth, ofLeft);
    rightMap_ =
        tightMapOf(kernel_.shape, kernel_.product, kernel_.product.right, kernel_.columns, kernel_.depth, ofRight);
    if (rightMap_ && kernel_.pulledBack.columns != 0) // boxes and all
      rightMap_->mayLack = false;
  }

  void run();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // A tile that is being computed: where it lies, and its operands in shared memory.
  struct Tile {
    Tile(const ProductKernel &kernel, TensorCore &core, mlir::Value number)
        : space(kernel, number), left(kernel, space, core, kernel.product.left, /*isRounded=*/true),
          right(kernel, space, core, kernel.product.right, /*isRounded=*/true) {}
    TileSpace space;
    OperandTile left, right;
  };
  // Its steps that this block computes.
  struct Part {
    mlir::Value first; // of them, numbered through all tiles of this block: the number in the ring
    mlir::Value begin; // of them, in the tile
    mlir::Value count;
    std::optional<SharedTiles::Item> item; // where tiles are shared
  };

  /// Whether lines that begin anywhere are shifted in shared memory.
  static bool mayShift(const ProductKernel &kernel);
  /// Of both operands, or of that which is not computed.
  bool hasMaps() const { return (leftMap_ && rightMap_) || (computed_ && (leftMap_ || rightMap_)); }
  ComputedTile computedTile(Tile &tile) {
    return {kernel_, tile.space, computed_ == &kernel_.product.left ? tile.left : tile.right, kGroupThreads};
  }
  /// Whether the right operand comes as boxes and threads bring the left one's rows.
  bool isMixed() const { return !computed_ && !leftMap_ && rightMap_; }
  bool isInCluster() const { return kernel_.cluster > 1; }
  /// Whether the blocks of a cluster have a part of each tile's steps.
  bool isDeep() const { return kernel_.deep > 1; }
  /// Blocks of a cluster, for whatever reason they are one.
  uint32_t together() const { return kernel_.cluster * kernel_.deep; }
  /// Most multiprocessors are free: the next kernel's blocks need not wait for the end of these. Of many, those of the
  /// next would be crowded where these end first.
  bool isOfFewBlocks() {
    mlir::Value blocks = k_.mul(items(), k_.number(together()));
    return KernelBuilder::known(k_.less(blocks, k_.number(kFewBlocks + 1))).value_or(false);
  }
  /// Whether a consumer has every other tile of the block, all of it. While it writes one the other one multiplies the
  /// next.
  bool isInTurn() const { return kernel_.isInTurn; }
  /// Whether each consumer has rows of the tile; else it has columns.
  bool areRowsDivided() const { return !isInTurn() && kernel_.rows >= kConsumers * kGroupRows; }
  /// How often a consumer has 64 rows of a tile, and how far they are from each other.
  uint32_t parts() const {
    return isInTurn() ? kernel_.rows / kGroupRows : areRowsDivided() ? kernel_.rows / (kConsumers * kGroupRows) : 1;
  }
  uint32_t rowsToNextPart() const { return isInTurn() ? kGroupRows : kConsumers * kGroupRows; }
  uint32_t groupColumns() const {
    return isInTurn() || areRowsDivided() ? kernel_.columns : kernel_.columns / kConsumers;
  }
  uint32_t stageColumns() const { return columnsOfStage(kernel_.product.right, kernel_.columns); }
  /// That read a stage.
  uint32_t readers() const { return isInTurn() ? 1 : kConsumers; }
  uint32_t producerRegisters() const {
    if (producers_ > 1 && shifts_)
      return kShiftingRegisters;
    if (producers_ > 1)
      return parts() > 1 ? kFewComputingRegisters : kComputingRegisters;
    return hasManySums() ? kFewProducerRegisters : hasManyColumns() ? kProducerBesideMany : kProducerRegisters;
  }
  uint32_t consumerRegisters() const {
    if (producers_ > 1 && shifts_)
      return kFedByLines;
    if (producers_ > 1)
      return parts() > 1 ? kManyFedRegisters : kFedRegisters;
    return hasManySums() ? kManyConsumerRegisters : hasManyColumns() ? kConsumerOfMany : kConsumerRegisters;
  }
  bool hasManySums() const { return kernel_.product.addsSteps() && parts() * groupColumns() > kColumnsAtOnce; }
  bool hasManyColumns() const { return parts() * groupColumns() > kManyColumns; }
  /// Whether a tile may lack all rows of a consumer's last part.
  bool mayEndEarly() const { return !isInTurn() && parts() > 1 && !kernel_.rowPatches && !first_.rowsAreWhole(); }
  mlir::Value firstRow(uint32_t part) {
    return k_.add(k_.mul(group_, k_.number(areRowsDivided() ? kGroupRows : 0)),
                  k_.number(int64_t(part) * rowsToNextPart()));
  }
  mlir::Value firstColumn() { return k_.mul(group_, k_.number(isInTurn() || areRowsDivided() ? 0 : groupColumns())); }
  mlir::Value stageBytes(mlir::Value step) {
    return k_.mul(ring_->stageOf(step), k_.number(stageBytesOf(kernel_.rows, stageColumns())));
  }
  mlir::Value inArena(mlir::Value bytes) { return k_.at(arena_, k_.b.getI8Type(), bytes); }
  /// body(tile, part): for each tile of this block. @return how many steps all of them have
  mlir::Value forEachTile(llvm::function_ref<void(Tile &, const Part &)> body);
  /// Of a consumer's own tiles.
  void forEachTileInTurn(llvm::function_ref<void(Tile &, const Part &)> body);
  mlir::Value turnOf(mlir::Value consumer);
  void passTurn(mlir::Value condition);
  /// A consumer has seen all steps of its tile.
  void endSteps();
  /// Of tiles that have unlike numbers of steps.
  mlir::Value forEachUnevenTile(llvm::function_ref<void(Tile &, const Part &)> body);
  /// body(number in the ring, number in the tile)
  void forEachStep(const Part &part, llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  bool isShared() const { return kernel_.parts > 1; }
  mlir::Value stepsOf(const TileSpace &space) {
    return k_.div(k_.add(space.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  }
  /// Numbers below which a block's tiles, or parts of them, have theirs.
  mlir::Value items();

  void produce();
  void askForBoxes();
  void askForBoxes(Tile &tile, const Part &part);
  void askForBoxes(Tile &tile, mlir::Value step, mlir::Value inTile);
  void computeTiles();
  /// Boxes of the operand that bring something.
  mlir::Value boxesOf(const TileMap &map, Tile &tile, const Operand &operand);
  void askFor(const TileMap &map, mlir::Value tensorMap, Tile &tile, const Operand &operand, mlir::Value to,
              mlir::Value reduced, mlir::Value step, bool isShared);
  /// How threads bring operands.
  enum class Copies : uint8_t { Vectors, Single };
  void copyElements(Copies how);
  void bringTiles(llvm::function_ref<void(Tile &, const Part &)> copy,
                  llvm::function_ref<void(mlir::Value end, mlir::Value count)> handOverLast);
  void shiftLines();
  void copyRows();
  void waitUntilFull(const Tile &tile, mlir::Value step);

  void consume();
  void tellEmpty(mlir::Value step, mlir::Value condition = {}); // null: always
  mlir::Value descriptor(const OperandTile &tile, mlir::Value address);
  TensorCore::Step operandsOf(const Tile &tile, mlir::Value step, uint32_t part);
  Values multiply(const Tile &tile, const Part &part, uint32_t parts);
  Values multiplyAndAdd(const Tile &tile, const Part &part, uint32_t parts);
  /// Whether the left operand is multiplied from registers.
  bool isFromRegisters() const { return kernel_.product.isReadAcross(kernel_.product.left); }
  Values multiplyFromRegisters(const Tile &tile, const Part &part, uint32_t parts);
  Values leftRegisters(mlir::Value step, uint32_t part);
  mlir::Value chunkOfRegisters();
  /// Of a consumer's 64 rows, those of a thread's sums: of the first half of them, or the second.
  mlir::Value rowOfSums(uint32_t half);
  /// Threads of a consumer that tell that a stage is empty: each warp has one where it has read registers.
  uint32_t tellers() const { return isFromRegisters() ? kGroupThreads / 32 : 1; }
  /// Sums of so many of its columns, which begin there in the tile, as multiply() returns them.
  void write(Tile &tile, const Values &sums, uint32_t columns, mlir::Value firstColumn);
  /// Sums of the block's steps, to which those of the cluster's other blocks are added.
  void writeWithCluster(Tile &tile, const Values &sums);
  void leaveSums(const Part &part, const Values &sums);
  Values withSharesOfOthers(const Part &part, const Values &sums);
  mlir::Value shareAt(mlir::Value share, mlir::Type vector, size_t number, size_t vectors);
  mlir::Value flagOf(mlir::Value share);
  mlir::Value takeNumber();
  mlir::Value resultArena();

  ProductKernel kernel_;
  KernelBuilder &k_;
  TensorCore core_;
  const uint32_t producers_; // of the warpgroups; two compute an operand, or shift lines, and take turns
  const bool shifts_;        // lines, where operands are not aligned but begin so
  TileSpace first_;          // for sizes, which are those of all tiles
  std::optional<TileMap> leftMap_, rightMap_;
  const Operand *computed_ = nullptr; // that the producer computes; null: none
  mlir::Value arena_;
  mlir::Value group_;                 // number of the warpgroup
  mlir::Value thread_;                // in it
  mlir::Value count_;                 // steps of a tile, where all have as many
  std::optional<SharedTiles> shared_; // where tiles are
  mlir::Value number_;                // of the block's first tile, or item
  mlir::Value rank_;                  // of the block in its cluster
  mlir::Value hasNext_;               // whether the other consumer has a tile behind this one, where they take turns
  mlir::Value isFast_;                // boxes are copied, or vectors; else elements
  std::optional<StageRing> ring_;
  std::optional<ShiftedLines> lines_;
};

} // namespace tenon::compiler::codegen
