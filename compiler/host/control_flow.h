// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and conditions of host functions as blocks and branches, the one form that the rest of the host's side knows.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::host {

/// scf.if, for, while, parallel, index_switch and execute_region of `function` become blocks. Those inside tensor code
/// (the body of a linalg.generic) stay: they are a kernel's. An error at an operation that has no such form.
mlir::LogicalResult lowerToBranches(mlir::func::FuncOp function);

/// Drops blocks that nothing reaches and arguments that nothing reads, and joins blocks that always follow each other.
void simplifyBranches(mlir::func::FuncOp function);

/// Text may have blocks in any order. Behind this each one stands behind those that have run whenever it does, so that
/// what a block reads stands in front of it.
void orderBlocks(mlir::func::FuncOp function);

} // namespace tenon::compiler::host
