// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two dequantised tensors (moved_integers.h) are products of their integers, which tensor cores multiply
// and sum exactly, times both scales.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Products of f32 of the function become such, where scales are those of places of the result, and the sums fit into
/// 32 bits. Zero points stay inside: takeOutZeroPoints() comes behind.
void multiplyIntegers(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
