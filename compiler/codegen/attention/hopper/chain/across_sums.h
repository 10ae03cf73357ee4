// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The third result of triplets (dispatch/attention/triplets.h): of gradients of attention, that by queries. A block has
// 128 keys, its rows, and of each block of queries, its keys, a part of their result:
//
//   part = weights' k       all 128 rows are summed over
//
// Weights of both consumers are wanted for it, and each has those of 64 rows, in registers. So they put them into
// shared memory, and each multiplies a part of 64 x 64 of what comes of it: half of the columns, or half of the
// queries. It goes through shared memory, and copies that run beside the threads add it to the result, f32, in memory
// (cp.reduce.async.bulk). Who adds first is not decided anywhere. `red` by the threads, which add eight bytes each,
// took longer than all products: a request for each row and eight columns.
//
// What a consumer put is multiplied in a later turn, when the other's is there, too. Turns go 0 1 0 1: when the second
// consumer has its turn with a block, the first has put the weights of the block before; when the first has its turn,
// the second has put those of the block before that. Weights of three blocks have a place, so that nobody waits for
// another barrier than that of turns:
//
//   turn of consumer 0 with block i     multiplies weights of block i - 2
//   turn of consumer 1 with block i     multiplies weights of block i - 1
#pragma once

#include "compiler/codegen/attention/hopper/chain/chain_block.h"

namespace tenon::compiler::codegen {

class AcrossSums {
public:
  using Values = ChainBlock::Values;
  /// A block of keys by its number, and where its weights lie; whether there is one (null: yes).
  struct Block {
    mlir::Value number, slot, exists;
  };

  explicit AcrossSums(ChainBlock &block);

  /// A consumer: what is multiplied before anything has been put is 0. Before its first turn.
  void clear();
  /// Weights of two rows against a block of keys. Behind the products of the consumer's turn with it.
  void put(const Block &which, llvm::ArrayRef<Values> weights);
  /// That which begins at `key`.
  Block at(mlir::Value key);
  /// Whose weights the consumer multiplies in its turn with the block that begins at `key`.
  Block before(mlir::Value key);
  /// The consumer's part of the result, in flight behind the call.
  Values multiplied(const Block &which);
  /// The part is added, or on its way. Behind awaitPart() and a barrier of the warpgroup.
  void add(const Block &which, mlir::ValueRange parts);
  /// What is on its way has left shared memory. By the thread that speaks for the warpgroup.
  void awaitPart();
  /// Behind the last turn: what consumer 0 has not yet multiplied when it has done so with the last block.
  void addLate(const Block &last);

private:
  mlir::Value placeOf(mlir::Value slot);
  void stage(mlir::ValueRange parts);
  void addBoxes(mlir::Value number);
  void addElements(mlir::Value number);
  Point pointOf(mlir::Value key, mlir::Value column);
  mlir::Value firstKey(mlir::Value number);
  mlir::Value firstColumn();

  ChainBlock &block_;
  KernelBuilder &k_;
  mlir::Value part_;   // of the consumer, behind the arena
  mlir::Value isFast_; // copies can add; null: they cannot
};

} // namespace tenon::compiler::codegen
