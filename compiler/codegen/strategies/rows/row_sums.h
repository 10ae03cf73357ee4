// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a row while its elements are run through. A thread adds up the elements that it has of each sum, for each
// lane of its vectors by itself; then its lanes, the lanes of the row and the blocks of a cluster add up what they
// have, in an order that depends on the shape alone.
#pragma once

#include "compiler/codegen/kernel/bodies/early_reads.h"
#include "compiler/codegen/strategies/rows/row_vectors.h"

namespace tenon::compiler::codegen {

class RowSums {
public:
  using Accumulators = llvm::SmallVector<mlir::Value>; // [sums of a phase][lanes of a vector]

  /// @param lanes of a block, that have a row
  /// @param skipsVectors that do not exist, by a branch; else they are computed, and what they add is left out
  RowSums(KernelBuilder &k, Bodies &bodies, EarlyReads &reads, uint32_t lanes, bool skipsVectors)
      : k_(k), bodies_(bodies), reads_(reads), lanes_(lanes), skipsVectors_(skipsVectors) {}

  /// Lanes of a vector from here on.
  void setWidth(unsigned width) { width_ = width; }
  unsigned width() const { return width_; }
  /// Rows from here on are of `cluster` blocks, among which this one has `rank`: it says that it has begun, before any
  /// other one writes to its memory.
  void begin(uint32_t cluster, mlir::Value rank);

  Accumulators start(llvm::ArrayRef<RowSum> phase) const;
  Accumulators accumulate(llvm::ArrayRef<RowSum> phase, const RowBatch &batch, Accumulators accumulators);
  /// What all threads of the block have added up of each sum.
  llvm::SmallVector<mlir::Value> ofBlock(llvm::ArrayRef<RowSum> phase, llvm::ArrayRef<mlir::Value> accumulators);
  /// What all have added up is what bodies find of the row behind this.
  void finish(llvm::ArrayRef<RowSum> phase, llvm::ArrayRef<mlir::Value> accumulators, const Point &row);
  /// The same of one value of each sum for a thread.
  void setTotals(llvm::ArrayRef<RowSum> phase, llvm::ArrayRef<mlir::Value> ofThread, const Point &row);

private:
  llvm::SmallVector<mlir::Value> ofThread(llvm::ArrayRef<RowSum> phase, llvm::ArrayRef<mlir::Value> accumulators);

  KernelBuilder &k_;
  Bodies &bodies_;
  EarlyReads &reads_;
  const uint32_t lanes_;
  const bool skipsVectors_;
  unsigned width_ = 1;
  uint32_t cluster_ = 1;
  mlir::Value rank_;
  bool hasBegun_ = true; // every block of the cluster
};

} // namespace tenon::compiler::codegen
