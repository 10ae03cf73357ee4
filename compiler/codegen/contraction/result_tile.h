// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From accumulators to the results in memory. How a thread's accumulators lie in the tile depends on who multiplied,
// and is nothing that memory likes: they go through shared memory, a part of the tile at a time, and come back as
// vectors of adjacent columns, with which the rest of the group is computed.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Accumulators of adjacent columns.
struct Run {
  mlir::Value row, column; // of the part
  llvm::SmallVector<mlir::Value> values;
};

/// Some rows of the tile, and all of its columns or some.
struct ResultPart {
  uint32_t rows = 0;
  uint32_t columns = 0;                             // 0: all
  llvm::SmallVector<Run> runs;                      // of this thread
  std::function<mlir::Value(mlir::Value)> rowOf;    // of the tile, for a row of the part
  std::function<mlir::Value(mlir::Value)> columnOf; // the same of a column; none: it begins where the tile does
};

/// Bytes of shared memory that a part takes whose sums are of so many bytes.
uint32_t stagedBytes(uint32_t rows, uint32_t columns, uint32_t sumBytes);

/// All threads of the block, or of a team with an arena and parts of its own; what was in `arena` is read no more.
void writeResult(const ProductKernel &kernel, TileSpace &space, mlir::Value arena, llvm::ArrayRef<ResultPart> parts);

} // namespace tenon::compiler::codegen
