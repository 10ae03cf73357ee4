// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an operation along a dimension (iree_linalg_ext: scan, sort, topk, scatter) to a kernel function that holds it
// alone. Several kernels may compute it (codegen/along); here it is one dispatch.
#pragma once

#include "compiler/dispatch/outline_kernel.h"

namespace tenon::compiler::dispatch {

/// Has sorts compute such operands that nothing compares, instead of reading what another kernel has stored.
void computePlaces(mlir::func::FuncOp function);

/// Whether the operation looks at what a result starts from.
bool readsStart(mlir::Operation *op, unsigned result);

/// Outlines the operation, which stays where it is; results that nobody uses are left out. Values that the dispatch
/// needs are created before it.
mlir::FailureOr<OutlinedKernel> outlineAlong(mlir::Operation *op, mlir::StringRef name);

} // namespace tenon::compiler::dispatch
