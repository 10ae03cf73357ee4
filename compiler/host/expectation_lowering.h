// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.expect_* to expectations of the program: values that are kept until the call has ended, when the host compares
// them. What a constant is expected to be travels as a constant of the program.
#pragma once

#include "compiler/host/function_state.h"
#include "compiler/host/scalars/constant_pool.h"

namespace tenon::compiler::host {

/// @param op one of check.expect_*
/// Error at the operation: a type that a program cannot hold.
mlir::LogicalResult lowerExpectation(mlir::Operation *op, ConstantPool &constants, FunctionState &state);

} // namespace tenon::compiler::host
