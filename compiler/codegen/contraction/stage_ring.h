// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of shared memory that one team of a block fills and others read, step by step, without meeting at a barrier of
// the block. Step s lies in stage s % stages. Each stage has two barriers in shared memory (mbarriers):
//
//   full   the filling team arrives, or bytes that a copy was told to count; readers wait for it
//   empty  each reading team arrives once it has read; who fills the stage again waits for it
//
// A barrier counts its rounds by a parity, which is that of the number of times the stage was used. PTX ISA,
// "mbarrier", from sm_90 on.
//
// Blocks of a cluster have a ring each. A copy may bring the same bytes to all of them: each counts them at its own
// barrier, and who asks for the copy waits until all of them have read what was there before.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

class StageRing {
public:
  /// @param barriers pointer to bytes(stages) of shared memory, aligned to 8 bytes
  StageRing(KernelBuilder &k, mlir::Value barriers, uint32_t stages) : k_(k), barriers_(barriers), stages_(stages) {}

  static constexpr uint32_t bytes(uint32_t stages) { return 2 * 8 * stages; }

  /// All stages are used where `usesAll` holds, which is the same for all threads; else the first `fewer`.
  void useFewer(mlir::Value usesAll, uint32_t fewer) {
    usesAll_ = usesAll;
    fewer_ = fewer;
  }

  /// By one thread, before all others pass a barrier of the block: how many arrivals fill a stage (i64), how many empty
  /// it.
  void create(mlir::Value filling, mlir::Value emptying);
  void create(mlir::Value filling, uint32_t emptying) { create(filling, k_.number(emptying)); }

  /// Steps have fewer than 2^32 numbers: words divide in a third of the instructions. Where stages are a power of two,
  /// uniform registers do, from which copies and `wgmma` take addresses; what else comes of a division each step moves
  /// there.
  mlir::Value stageOf(mlir::Value step);
  /// Until what was in the step's stage before has been read. The first steps find theirs empty.
  void waitUntilEmpty(mlir::Value step) { wait(emptyBarrier(step), step, /*isBefore=*/true); }
  void waitUntilFull(mlir::Value step) { wait(fullBarrier(step), step, /*isBefore=*/false); }
  /// This thread has put its part of the step into shared memory.
  void fill(mlir::Value step) { arrive(fullBarrier(step)); }
  /// It will have, once the copies that it has asked for (cp.async) are done. Nobody waits for them here; what reads
  /// shared memory in another way than threads do needs a fence behind waitUntilFull().
  void fillWhenCopied(mlir::Value step);
  /// This thread's part of the step is `count` bytes that copies bring.
  void expect(mlir::Value step, mlir::Value count);
  void expect(mlir::Value step, uint32_t count) { expect(step, k_.number(count)); }
  /// This thread's team has read the step.
  void empty(mlir::Value step) { arrive(emptyBarrier(step)); }
  /// The same, by the thread for which `isFirst` holds, without a branch: all of the team are together behind it.
  void emptyBy(mlir::Value isFirst, mlir::Value step);
  /// The same, told to the block of the cluster whose rank is `block`.
  void emptyFor(mlir::Value step, mlir::Value block);

  /// Copies the box of a tensor at `position` (i64, outermost first) to shared memory, as its map says; counted by the
  /// step. One thread. @param blocks of the cluster that get it, from the first on; 0: this one
  void copyBox(mlir::Value to, mlir::Value map, llvm::ArrayRef<mlir::Value> position, mlir::Value step,
               uint32_t blocks = 0);

private:
  mlir::Value wordOf(uint32_t number);
  /// Word operations `of(word(step), stages)`, of as many stages as are used.
  template <typename Operation> mlir::Value ofStages(mlir::Value step);
  mlir::Value barrier(uint32_t first, mlir::Value step);
  mlir::Value fullBarrier(mlir::Value step) { return barrier(0, step); }
  mlir::Value emptyBarrier(mlir::Value step) { return barrier(stages_, step); }
  void wait(mlir::Value barrier, mlir::Value step, bool isBefore);
  void arrive(mlir::Value barrier);

  KernelBuilder &k_;
  mlir::Value barriers_;
  const uint32_t stages_;
  mlir::Value usesAll_; // null: always
  uint32_t fewer_ = 0;
};

} // namespace tenon::compiler::codegen
