// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A consumer of Hopper's attention: a warpgroup that has 64 queries of each tile. It asks for the scores of the next
// block of keys and for the result of this one, and while the second product runs it computes the softmax of the first:
//
//   scores(0) softmax(0) | scores(1), result(0) | softmax(1) | scores(2), result(1) | softmax(2) ... result(n - 1)
//                                       +---- runs under ----+
//
// The two consumers take turns: while one computes a softmax, the products of the other run. Queries of the next tile
// are on their way while this one is computed.
#pragma once

#include "compiler/codegen/attention/optimistic_softmax.h"
#include "compiler/codegen/attention/warpgroup_block.h"

namespace tenon::compiler::codegen {

class QueryGroup {
public:
  explicit QueryGroup(WarpgroupBlock &block)
      : block_(block), k_(block.k),
        softmax_(k_, block.core, block.kernel.attention.tensorCoreElement().isF16()) {}

  /// What a consumer does. A team of a warpgroup.
  void run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  static constexpr uint32_t kStates = OptimisticSoftmax::kStates;

  // A tile that is being computed.
  struct Tile {
    const AttentionTile &at;
    const KeyRange &range;
    mlir::Value queries;   // bytes behind the arena
    mlir::Value rows;      // the first of this consumer
    mlir::Value firstStep; // in the ring
  };

  uint32_t sums() const { return block_.shape.columns / 2; } // of a thread
  mlir::Value rowsOf(const AttentionTile &tile);
  void askForQueries(mlir::Value round);
  mlir::Value descriptor(mlir::Value bytes, uint32_t blockBytes);
  Values scoresOf(const Tile &tile, mlir::Value step);
  Values weighted(llvm::ArrayRef<mlir::Value> factors, mlir::Value step, mlir::ValueRange sums);
  llvm::SmallVector<LogitRun> runsOf(const Tile &tile, const Values &scores, mlir::Value firstKey);
  void release(mlir::Value step);
  void awaitTurn();
  void passTurn();
  Values firstBlock(const Tile &tile);
  Values nextBlock(const Tile &tile, mlir::Value key, bool isWhole, mlir::ValueRange carried);
  /// What softmax carries, then the sums of the result.
  Values allBlocks(const Tile &tile);
  void write(const Tile &tile, llvm::ArrayRef<mlir::Value> carried);

  WarpgroupBlock &block_;
  KernelBuilder &k_;
  OptimisticSoftmax softmax_;
};

} // namespace tenon::compiler::codegen
