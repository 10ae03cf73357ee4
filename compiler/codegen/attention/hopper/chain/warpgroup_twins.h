// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A consumer of twins (dispatch/attention/chains/twins.h) on Hopper: 64 rows, two sums of all columns, and scores of
// two inner products against 64 keys at a time. Of gradients of attention, rows are its keys, and keys its queries:
//
//   S = k q'     P = exp(S ..)     by_v += P g     D = v g'     W = P (D ..)     by_k += W q
//
// As in other chains, a consumer asks at once for the scores of the next block and for what this one adds to both sums,
// and computes weights while products of the other consumer run. What each key has one of, such as logarithms, comes
// with the block through shared memory. Weights are computed column by column, so that few elements of it are in
// registers at a time.
#pragma once

#include "compiler/codegen/attention/hopper/chain/across_sums.h"
#include "compiler/codegen/attention/hopper/chain/chain_block.h"
#include "compiler/codegen/attention/hopper/chain/kept_weights.h"

namespace tenon::compiler::codegen {

class WarpgroupTwins {
public:
  explicit WarpgroupTwins(ChainBlock &block);

  /// What a consumer does. A team of a warpgroup.
  void consume();

private:
  using Values = ChainBlock::Values;

  uint32_t sums() const { return block_.shape.results / 2; } // of a thread, of each result
  void stageVectors();
  Values vectorAt(uint32_t vector);
  llvm::SmallVector<Values> weightsOf(const KeyRange &range, mlir::Value key, ChainBlock::Kind kind,
                                      const Values &scores, const Values &seconds);
  Values oneBlock(mlir::Value key, ChainBlock::Kind kind, mlir::ValueRange carried);
  Values multiplied(mlir::Value key, mlir::ValueRange carried);
  Values blocksOfHead(mlir::ValueRange before);
  Values addedUp(mlir::Value key, mlir::ValueRange carried);
  void releaseAll(mlir::Value key);
  Values lastBlock(mlir::Value key, mlir::ValueRange carried);
  Values allBlocks();
  void write(const ProductKernel &output, llvm::ArrayRef<mlir::Value> sums);

  ChainBlock &block_;
  KernelBuilder &k_;
  const Attention first_; // what has the weights of one product; the block has those of both
  const AttentionKernel kernel_;
  ProductKernel output_;
  const KeyRange range_;             // the same keys as the block's
  std::optional<AcrossSums> across_; // of triplets
  std::optional<KeptWeights> kept_;  // of weights that are stored
  mlir::Value key_;                  // the first of the block of keys that is computed
  // Of each vector: elements of the thread's keys, as far as they have been read, and how many of them have been asked
  // for since the scores of a product are there.
  llvm::SmallVector<std::pair<Values, uint32_t>, 2> vectors_;
};

} // namespace tenon::compiler::codegen
