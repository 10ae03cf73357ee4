// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warpgroup of Hopper holds of 64 rows: scores against a block of keys, weights, a result. Lane l of a warp has
// columns 2 (l % 4) and the next of each eight, of row l / 4 of the warp's sixteen and of the eighth behind it.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

/// What wgmma is told of a tile: where it begins in the arena, how far eight rows are from the next eight, blocks of 64
/// positions from each other, and that rows of 128 bytes are swizzled.
mlir::Value tileDescriptor(KernelBuilder &k, mlir::Value arena, mlir::Value bytes, uint32_t blockBytes);

/// Scores of a block of keys as runs of two, those of one row of a thread, then those of the other.
/// @param seconds of a second product, or none
llvm::SmallVector<LogitRun> runsOfGroup(KernelBuilder &k, mlir::Value thread, mlir::Value firstRow,
                                        mlir::Value firstKey, llvm::ArrayRef<mlir::Value> scores,
                                        llvm::ArrayRef<mlir::Value> seconds = {});
/// What runs hold, of each of the two rows.
llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowsOfRuns(llvm::ArrayRef<LogitRun> runs);
/// Left factors, four registers for each 16 keys, from the weights of two rows.
llvm::SmallVector<mlir::Value> factorsOfGroup(TensorCore &core, llvm::ArrayRef<llvm::SmallVector<mlir::Value>> weights);

/// Factors of keys behind the last one become 0. @param keys how many there are from the first of the block on
void hideFactors(KernelBuilder &k, mlir::Value thread, mlir::Value keys, bool areEven,
                 llvm::MutableArrayRef<mlir::Value> factors);

/// Shared memory that a warpgroup writes a result of so many columns through.
uint32_t groupResultBytes(uint32_t columns);
/// All columns of the rows. A team of a warpgroup.
void writeGroupResult(const ProductKernel &output, TileSpace &space, mlir::Value thread, mlir::Value arena,
                      uint32_t columns, llvm::ArrayRef<mlir::Value> values);

/// The logarithms of the sums of the rows' exponentials, if somebody wants them.
void writeGroupLogSums(const AttentionKernel &kernel, TileSpace &space, mlir::Value thread, const RowTotals &totals);

} // namespace tenon::compiler::codegen
