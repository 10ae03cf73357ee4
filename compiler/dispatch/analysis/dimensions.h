// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tensors as values of the host function: where a tensor was computed here, its size is that of what it was
// computed into, so no size waits for a kernel.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tenon::compiler::dispatch {

/// Size of `dimension` of `tensor` as an index value: a constant, an existing value, or a tensor.dim of what came from
/// outside. New operations go to `builder`'s insertion point.
mlir::Value dimensionOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, int64_t dimension);

/// Those of all dimensions of unknown size, in their order, as tensor.empty takes them.
llvm::SmallVector<mlir::Value> unknownSizesOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

/// How many elements so many dimensions of `tensor` have together: the size of the one that a reshape folds them into.
mlir::Value foldedDimensionOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                              llvm::ArrayRef<int64_t> dimensions);

/// Replaces every tensor.dim of a linalg result, a reshape, tensor.empty or flow.dispatch result by such a value.
void resolveDimensions(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
