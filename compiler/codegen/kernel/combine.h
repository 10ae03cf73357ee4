// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accumulators of many threads become one: the operation that combines two, the value that changes nothing, and the
// combination over the lanes of a warp and the warps of a block. The order is a tree that depends on the shape alone.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/dispatch/analysis/reduction_body.h"

namespace tenon::compiler::codegen {

/// One accumulator of a kernel: what it combines and the type in which it does. Sums and products of f16 and bf16 are
/// kept in f32.
struct Sum {
  dispatch::Combiner combiner;
  mlir::Type element; // of the tensors
  mlir::Type type;    // of the accumulator

  static Sum of(dispatch::Combiner combiner, mlir::Type element);
};

mlir::Value combine(KernelBuilder &k, const Sum &sum, mlir::Value x, mlir::Value y);
/// combine(neutral, x) is x.
mlir::Value neutral(KernelBuilder &k, const Sum &sum);
/// From and to the type of the tensors.
mlir::Value widen(KernelBuilder &k, const Sum &sum, mlir::Value value);
mlir::Value narrow(KernelBuilder &k, const Sum &sum, mlir::Value value);

/// How a scalar stands in shared memory: a truth value takes a byte.
mlir::Type storedType(mlir::Type type);
void storeShared(KernelBuilder &k, mlir::Value value, mlir::Value to);
mlir::Value loadShared(KernelBuilder &k, mlir::Type type, mlir::Value from);

/// A tree over values of one thread.
mlir::Value combineAll(KernelBuilder &k, const Sum &sum, llvm::ArrayRef<mlir::Value> values);

/// Combines value i of `values` with those of the other threads of a row, `lanes` of them, a power of two: neighbours
/// in a warp, or all threads of the block. Every thread gets the result. All threads of the block call this together.
llvm::SmallVector<mlir::Value> combineLanes(KernelBuilder &k, llvm::ArrayRef<Sum> sums,
                                            llvm::ArrayRef<mlir::Value> values, uint32_t lanes);

/// Combines what all threads of a block have alike with that of the other blocks of the cluster, whose shared memory
/// must be there: every block has begun. `blocks` is a power of two, `rank` the block's number among them.
llvm::SmallVector<mlir::Value> combineBlocks(KernelBuilder &k, llvm::ArrayRef<Sum> sums,
                                             llvm::ArrayRef<mlir::Value> values, uint32_t blocks, mlir::Value rank);

} // namespace tenon::compiler::codegen
