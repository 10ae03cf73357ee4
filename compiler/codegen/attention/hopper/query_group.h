// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A consumer of Hopper's attention: a warpgroup that has 64 queries of each tile. It asks for the scores of the next
// block of keys and for the result of this one, and while the second product runs it computes the softmax of the first:
//
//   scores(0) softmax(0) | scores(1), result(0) | softmax(1) | scores(2), result(1) | softmax(2) ... result(n - 1)
//                                       +---- runs under ----+
//
// Consumers take turns: while one computes a softmax, the products of another run. Queries of the next tile are on
// their way while this one is computed. A consumer whose rows see fewer blocks than its tile, or that has no rows at
// all, takes its turns and lets blocks pass.
//
// Where logits take more than a scale and comparisons of indices (a bias, a cap, a mask in memory), softmax looks for
// the maximum and nobody takes turns: ptxas moves what has no maximum to wait for behind the wait for the second
// product, and nothing runs under that product any more.
#pragma once

#include "compiler/codegen/attention/hopper/optimistic_softmax.h"
#include "compiler/codegen/attention/hopper/warpgroup_block.h"
#include "compiler/codegen/attention/online_softmax.h"

namespace tenon::compiler::codegen {

class QueryGroup {
public:
  explicit QueryGroup(WarpgroupBlock &block);

  /// What a consumer does. A team of a warpgroup.
  void run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  // Blocks of the tile's keys, in the order of the ring; the rows of this consumer see those from `first` to `last`.
  struct Blocks {
    mlir::Value count, first, last;
  };
  // A tile that is being computed.
  struct Tile {
    const AttentionTile &at;
    const KeyRange &range; // of the consumer
    mlir::Value queries;   // bytes behind the arena
    mlir::Value rows;      // the first of this consumer
    mlir::Value firstStep; // in the ring
    Blocks blocks;
    mlir::Value round; // of tiles
  };

  uint32_t sums() const { return block_.shape.columns / 2; } // of a thread
  uint32_t states() const { return isPlain_ ? OptimisticSoftmax::kStates : 2 * OptimisticSoftmax::kRows; }
  mlir::Value rowsOf(const AttentionTile &tile);
  void askForQueries(mlir::Value round);
  void askForNext(mlir::Value round);
  void askBehindNone(mlir::Value round);
  mlir::Value descriptorOf(mlir::Value bytes, uint32_t blockBytes) {
    return tileDescriptor(k_, block_.arena, bytes, blockBytes);
  }
  Values scoresOf(const Tile &tile, mlir::Value step);
  Values weighted(llvm::ArrayRef<mlir::Value> factors, mlir::Value step, mlir::ValueRange sums);
  llvm::SmallVector<LogitRun> runsOf(const Tile &tile, const Values &scores, mlir::Value firstKey);
  void release(mlir::Value step);
  void pass(mlir::Value step);
  void passBlocks(const Tile &tile, mlir::Value first, mlir::Value last);
  void passInFront(const Tile &tile);
  Values passBehind(const Tile &tile, llvm::function_ref<Values(mlir::Value)> finish);
  void passAll(const Tile &tile);
  void computeTile(mlir::Value round, const AttentionTile &at, const KeyRange &range, mlir::Value firstStep);
  void awaitTurn();
  void passTurn();
  Values firstBlock(const Tile &tile);
  Values nextBlock(const Tile &tile, mlir::Value key, bool isWhole, mlir::ValueRange carried);
  /// What softmax carries, then the sums of the result.
  Values allBlocks(const Tile &tile);
  void write(const Tile &tile, llvm::ArrayRef<mlir::Value> carried);
  void leavePart(const Tile &tile, const RowTotals &totals, llvm::ArrayRef<mlir::Value> factors,
                 llvm::ArrayRef<mlir::Value> sums);

  WarpgroupBlock &block_;
  KernelBuilder &k_;
  const bool mayPass_;        // rows of a consumer may see fewer blocks than the tile
  const bool isPlain_;        // logits are scores, scaled and hidden
  const bool takesTurns_;     // of several consumers
  OptimisticSoftmax softmax_; // of plain logits
  OnlineSoftmax online_;      // of others
};

} // namespace tenon::compiler::codegen
