// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of parts of the keys, of blocks that share a tile: what one kernel leaves in memory, for another behind it.
//
//   part 0  row 0   columns of f32 | the largest logit | sum of weights | nothing, twice
//           row 1   ...
//   part 1  ...                                            and so for each tile
#pragma once

#include "compiler/codegen/attention/partial_sum.h"

namespace tenon::compiler::codegen {

struct KeyParts {
  static constexpr uint32_t kBehind = 4; // elements of a line behind its columns: 16 bytes

  uint32_t count;         // of a tile
  uint32_t rows, columns; // of a tile: those of a block
  mlir::Value memory;

  mlir::Value lineAt(KernelBuilder &k, mlir::Value tile, mlir::Value part, mlir::Value row) const;
  /// Four values of a part, two or one; with column 0 what else is known of the row.
  void store(KernelBuilder &k, mlir::Value tile, mlir::Value part, mlir::Value row, mlir::Value column,
             const PartialSum &sum) const;
};

} // namespace tenon::compiler::codegen
