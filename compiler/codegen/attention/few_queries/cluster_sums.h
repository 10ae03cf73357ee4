// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the blocks of a cluster add up what each has summed of a tile's keys. Every block has some of the columns: it is
// told what the others have of these.
//
//   block 1, in its memory   of block 0   row 0   its columns | and beside them: the largest logit, the sum of weights
//                                         row 1   ...
//                            of block 1   ...                 and so for each block, itself among them
//
// What is told is stored from afar (st.async), and counts its bytes at a barrier of who is told. So nobody waits for
// blocks that have nothing more to tell, no fence of the whole device stands between, and nobody has to stay until
// others have read its memory.
#pragma once

#include "compiler/codegen/attention/partial_sum.h"

namespace tenon::compiler::codegen {

class ClusterSums {
public:
  ClusterSums(KernelBuilder &k, uint32_t blocks, uint32_t rows, uint32_t columns);

  /// By all threads, long before meet(): from there on the block can be told.
  void begin();
  /// By all threads, before tell(): all blocks have begun.
  void meet();
  /// Tells the block that has these four columns, the first of which is `column`.
  void tell(mlir::Value rank, mlir::Value row, mlir::Value column, const PartialSum &sum);
  /// By all threads: until all is told.
  void wait();
  /// Of all blocks, of four of the block's own columns: `column` is 0 at the first of these.
  PartialSum sumOf(mlir::Value row, mlir::Value column);

  uint32_t ownColumns() const { return columns_ / blocks_; }

private:
  mlir::Value valuesAt(mlir::Value block, mlir::Value row, mlir::Value column);
  mlir::Value stateAt(mlir::Value block, mlir::Value row);
  void storeAsync(mlir::Value to, mlir::Value owner, mlir::ValueRange values);

  KernelBuilder &k_;
  const uint32_t blocks_, rows_, columns_;
  mlir::Value values_, states_, barrier_; // shared
};

} // namespace tenon::compiler::codegen
