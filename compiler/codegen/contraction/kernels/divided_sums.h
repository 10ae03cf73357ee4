// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a tile that the blocks of a cluster have taken apart: each has multiplied some of its steps, whole ones in
// their order, and has sums of all of its rows and columns. There are so few tiles that most multiprocessors would have
// none. Through memory, sums of parts would be a kernel of their own behind this one; here they go from shared memory
// to shared memory:
//
//   block 0   steps 0 .. 8    | a0 b0 c0 |  leaves all, adds a0 + a1 + a2, and computes the results of these
//   block 1   steps 9 .. 17   | a1 b1 c1 |  b
//   block 2   steps 18 .. 26  | a2 b2 c2 |  c
//
// They are added in the order of the blocks. A sum may have any number of steps: none has to be as long as another.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Of the blocks that have a tile together, the number of this one.
mlir::Value rankInDepth(const ProductKernel &kernel);

struct StepRange {
  mlir::Value begin, end;
};
/// Of so many steps of a tile, those of block `rank`; all of them where tiles are not taken apart.
StepRange stepsOfBlock(const ProductKernel &kernel, mlir::Value count, mlir::Value rank);

class DividedSums {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// @param arena shared memory of bytes(), which nothing else is in when sums are added
  /// @param thread among the `threads` that have sums
  DividedSums(const ProductKernel &kernel, mlir::Value arena, mlir::Value rank, mlir::Value thread, uint32_t threads)
      : kernel_(kernel), k_(kernel.k), arena_(arena), rank_(rank), thread_(thread), threads_(threads) {}

  /// That `units` of so many bytes of a thread take.
  static uint32_t bytes(uint32_t threads, uint32_t units, uint32_t ofUnit) { return threads * units * ofUnit; }

  /// A thread's sums, in units of as many values, of which this block has some. All of the cluster's threads meet
  /// twice, those without sums in meet(). `write` gets the number of the block's first unit, and the units of all
  /// blocks added up; there may be two pieces of code of it, for one unit more or less. `end`: when this thread has
  /// read.
  void add(
      llvm::ArrayRef<Values> units, llvm::function_ref<void(mlir::Value first, llvm::ArrayRef<Values>)> write,
      llvm::function_ref<void()> end = [] {});
  /// By who has none: when all blocks have left their sums, and when all have read them.
  static void meet(KernelBuilder &k);

private:
  mlir::Value place(mlir::Value unit, uint32_t ofUnit, uint32_t vector, mlir::Type type);

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  mlir::Value arena_, rank_, thread_;
  const uint32_t threads_;
};

} // namespace tenon::compiler::codegen
