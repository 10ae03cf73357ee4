// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and values of few queries in shared memory, where all groups of a block's queries read them
// (few_queries_shape.h). What a lane multiplies of 16 keys lies in rows of memory far from each other: read from there,
// 512 bytes pass the first-level cache in 13 passes instead of four, and once more for each group. Copied as they lie,
// they take four, once, and `ldmatrix` finds fragments of them in four more for each group.
//
//   stage     keys: a tile for each 64 elements of the depth | values: a tile for each 64 columns
//   step      keys of a stage, 16 or 32 for each slice of warps:
//
//             16 queries   16 queries
//   32 keys   warp 0       warp 1          a slice
//   32 keys   warp 2       warp 3          ...
//
// As many steps as fit are on their way while one is multiplied; the block meets once for each.
#pragma once

#include "compiler/codegen/attention/few_queries/few_queries_shape.h"
#include "compiler/codegen/contraction/operands/operand_tile.h"

namespace tenon::compiler::codegen {

class KeyRing {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  /// @param arena bytes(shape) of shared memory  @param lane of the warp
  KeyRing(const AttentionKernel &kernel, const FewQueriesShape &shape, TensorCore &core, const AttentionTile &tile,
          mlir::Value arena, mlir::Value lane);

  /// Of shared memory: stages, in which sums of warps lie at the end; behind them queries of warpgroups.
  static uint32_t bytes(const FewQueriesShape &shape);

  /// Steps whose first keys are first, first + stride, ... up to `last`: as many as fit are asked for. All threads.
  void begin(mlir::Value first, mlir::Value last, mlir::Value stride);
  /// compute(the step's first key, where its stage lies, carried) for each of them. Behind it nobody reads the ring.
  Values forEachStep(mlir::ValueRange carried,
                     llvm::function_ref<Values(mlir::Value, mlir::Value, mlir::ValueRange)> compute);
  /// Keys `sixteen` of the stage x elements `part` of the depth; columns of the values from `column` on x these keys,
  /// 16 each: left factors.
  Values keys(mlir::Value stage, mlir::Value sixteen, uint32_t part);
  Values values(mlir::Value stage, mlir::Value sixteen, mlir::Value column);
  /// The queries of a warpgroup, asked for before begin().
  void askForQueries();
  /// Of warpgroups: scores of a step, in flight; half `half` of the columns += weights, from registers, * values.
  Values groupScores(mlir::Value stage);
  Values groupWeighted(mlir::ArrayRef<mlir::Value> factors, mlir::Value stage, mlir::Value half, mlir::ValueRange sums);

private:
  uint32_t queriesBegin() const { return shape_.stages() * shape_.stageBytes(); }
  mlir::Value lastStage() { return k_.number(int64_t(shape_.stages() - 1) * shape_.stageBytes()); }
  void bring(mlir::Value key, mlir::Value stage);
  void ask(mlir::Value key, mlir::Value stage);
  mlir::Value keysAt(mlir::Value stage, uint32_t tile);
  mlir::Value valuesAt(mlir::Value stage);

  KernelBuilder &k_;
  const AttentionKernel &kernel_;
  const FewQueriesShape &shape_;
  TensorCore &core_;
  const AttentionTile tile_;
  const ProductKernel scores_, output_; // of a stage
  mlir::Value arena_, lane_;
  mlir::Value first_, last_, stride_; // keys
  mlir::Value isFast_;                // i1: elements are copied 16 bytes at a time
};

} // namespace tenon::compiler::codegen
