// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left in a host function once its dispatches are formed, and nothing else: launches, shapes, scalars and
// branches.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Scalars that the host cannot compute, such as an exponential, become kernels of one element that is read back: a
/// function of math has one result wherever it is called, and hosts differ in its last bit.
void moveScalarsToKernels(mlir::func::FuncOp function);

/// Every operation of `function` that neither a kernel nor the host program can compute is an error that names it.
mlir::LogicalResult verifyHostFunction(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
