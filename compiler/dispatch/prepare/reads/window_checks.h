// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that read a tensor at sums of loops, image[y + ky], need an image that is as large. Where a size is not
// known before the call, the host checks it then, as it does where two tensors must have one size. Sizes that are known
// are compared at once: MLIR does so only where all sizes of an operation are.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Puts a cf.assert in front of each linalg operation of `function` that may read past the end of an operand. Run it
/// while operations are what the program calls them.
/// @return whether no known size is wrong; it is reported
mlir::LogicalResult checkWindows(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
