// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block of Columns computes: some adjacent columns, and which of its threads computes which of them. The threads
// of a column stand below each other and combine what they have in shared memory.
//
// Columns that are few, of unknown number or odd, have as many threads beside each other as they are (plan: "narrow"):
// thread t is at column t mod n, so that a warp reads adjacent elements of several rows, and no thread is left without
// one. Long columns of few tiles are parts (plan: "parts" rows each), a block for each.
//
// Columns of few rows, which may be few themselves, are taken across all parallel axes (plan: "flat"): a tile goes on
// in the next row of columns.
//
// Where another tensor lies down the columns (plan: "turned"), a warp is a square of so many rows by some vectors: of
// either tensor it meets whole sectors of 32 bytes.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class ColumnsTile {
public:
  /// Places the thread. @param lanes columns of its vector
  ColumnsTile(Writer &w, unsigned lanes);

  /// Positions on the parallel axes. All threads of the block take part in its barriers; one without a column has the
  /// last one again.
  const Point &column() const { return column_; }
  mlir::Value exists() const { return exists_; }
  /// Number of the thread among those of its column, and how many these are, at most.
  mlir::Value down() const { return down_; }
  mlir::Value threadsDown() const { return threadsDown_; }
  std::optional<uint32_t> knownDown() const { return knownDown_; }
  /// Rows of the block.
  mlir::Value firstRow() const { return firstRow_; }
  mlir::Value endRow() const { return endRow_; }
  /// How many parts columns have.
  mlir::Value parts() const { return parts_; }
  /// Number of an element of scratch memory that has one for each column of each part.
  mlir::Value inParts(mlir::Value part, unsigned lane);
  mlir::Value part() const { return part_; }

  /// A tree over the threads of a column: the lower half of them takes what the upper half has left in shared memory.
  /// Every thread leaves its values once, in a place of its own, so one barrier a step is enough. [sums][lanes]
  llvm::SmallVector<mlir::Value> combineDown(llvm::ArrayRef<RowSum> sums, llvm::SmallVector<mlir::Value> values);
  /// What the first thread of each column has, all of its threads have then.
  llvm::SmallVector<mlir::Value> ofFirstThreads(llvm::ArrayRef<RowSum> sums, llvm::SmallVector<mlir::Value> values);

private:
  void placeThread();
  void placeInSquares(uint32_t rows);
  void placeBlock();

  Writer &w_;
  KernelBuilder &k_;
  const unsigned lanes_, axis_;
  const bool isNarrow_;
  const int64_t rowsOfPart_; // 0: there are none
  uint32_t most_;            // threads of a row
  std::optional<uint32_t> knownDown_;
  mlir::Value columns_, across_, down_, threadsAcross_, threadsDown_;
  mlir::Value exists_, firstRow_, endRow_, part_, parts_, outer_;
  Point column_;
};

} // namespace tenon::compiler::codegen
