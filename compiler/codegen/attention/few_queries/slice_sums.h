// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the warps of a block have summed, in its shared memory: of each slice of warps (few_queries_shape.h), which has
// keys of its own, a line for each row of the block, and beside them the largest logit and the sum of weights.
#pragma once

#include "compiler/codegen/attention/few_queries/few_queries_shape.h"
#include "compiler/codegen/attention/partial_sum.h"

namespace tenon::compiler::codegen {

class SliceSums {
public:
  /// Takes shared memory. @param lines bytes(shape) of it; null: it takes these, too
  SliceSums(KernelBuilder &k, const FewQueriesShape &shape, mlir::Value lines);

  /// Of the lines.
  static uint32_t bytes(const FewQueriesShape &shape);

  void storeState(mlir::Value slice, mlir::Value row, const PartialSum &sum);
  /// f32 of a line.
  mlir::Value at(mlir::Value slice, mlir::Value row, mlir::Value column);
  /// Of four columns of all slices, behind a barrier.
  PartialSum sumOf(mlir::Value row, mlir::Value column);

private:
  mlir::Value stateAt(mlir::Value slice, mlir::Value row, uint32_t number);

  KernelBuilder &k_;
  uint32_t slices_, rows_, columns_;
  mlir::Value lines_, states_;
};

} // namespace tenon::compiler::codegen
