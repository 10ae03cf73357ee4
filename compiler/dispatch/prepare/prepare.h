// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Before dispatches are formed: tensor arithmetic becomes linalg.generic on tensors, named operations are generalised,
// chains of elementwise operations are fused into one.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Afterwards `function` computes with linalg.generic and linalg.fill only, where it can be said so, and no tensor.dim
/// asks for the size of what one of them computes.
void generalizeOperations(mlir::func::FuncOp function);

/// The same, and what can be one operation is one.
/// @param isOneKernel nothing is computed apart, which would be another one
mlir::LogicalResult prepareFunction(mlir::func::FuncOp function, bool isOneKernel = false);

/// A fill that is more than the start of another operation becomes a linalg.generic, a kernel of its own.
void generalizeFills(mlir::func::FuncOp function);

/// Erases what only operations used that are gone: starts, empty tensors, sizes.
void eraseDeadOperations(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
