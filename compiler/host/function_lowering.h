// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One func.func to commands, registers and checks.
//
// Comes in: a function of one block whose tensor work is flow.dispatch. Walks it once, in order: scalars become
// registers, tensors become buffers (buffer_table.h), dispatches become commands. Dimensions that the program declares
// equal and the inputs may not have become checks, evaluated before anything is launched. What no result needs is
// dropped first.
#pragma once

#include "compiler/host/constant_pool.h"
#include "compiler/host/executable_table.h"
#include "compiler/host/program/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::host {

/// Every argument and result of `function` is a tensor or scalar that a program can hold. Each that is not is an error,
/// arguments at their own place.
mlir::LogicalResult verifySignature(mlir::func::FuncOp function);

/// Lowers `function`. An operation or type that a program cannot hold is an error at its place.
mlir::FailureOr<Function> lowerFunction(mlir::func::FuncOp function, const ExecutableTable &executables,
                                        ConstantPool &constants);

} // namespace tenon::compiler::host
