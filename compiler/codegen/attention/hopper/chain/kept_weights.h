// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of twins that their kernel stores (dispatch/attention/chains/kept_weights.h): of gradients of attention,
// those that the gradient by queries is a product of. A consumer has them in registers, as left factors of 64 rows and
// a block of keys. Each of its warps puts its 16 rows into shared memory, and copies beside the threads store them. A
// copy is asked for when the next products are, whose end the consumer waits for anyway:
//
//   put(i)   products(i + 1)   store(i - 1) has been read   store(i)   put(i + 1)   ..
//
// Two blocks of keys have a place, so that no warp waits for the copy that it asked for last.
#pragma once

#include "compiler/codegen/attention/hopper/chain/chain_block.h"

namespace tenon::compiler::codegen {

class KeptWeights {
public:
  explicit KeptWeights(ChainBlock &block);

  /// Those against the block of keys that begins at `key` are in shared memory.
  /// @param factors of the thread: four registers for each 16 keys
  void put(mlir::Value key, llvm::ArrayRef<mlir::Value> factors);
  /// What was put for this block, the last one, is on its way to memory.
  void store(mlir::Value key);
  /// All have left shared memory. By all consumers, behind the last block.
  void finish();

private:
  mlir::Value isKey(mlir::Value inHead);
  mlir::Value placeOf(mlir::Value key);
  void storeBoxes(mlir::Value place, mlir::Value key);
  void storeElements(mlir::Value place, mlir::Value key);
  void awaitBoxes();
  mlir::Value firstRow();

  ChainBlock &block_;
  KernelBuilder &k_;
  mlir::Value lane_, warp_;
  mlir::Value isFast_; // copies can store; null: they cannot
};

} // namespace tenon::compiler::codegen
