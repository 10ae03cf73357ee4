// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program computes from each element of a convolution's result alone: a bias, an activation, a residual. Tiles
// of the result are stored as that.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Takes in operations that read nothing else by more than its place, as long as nobody else reads what is before them,
/// behind all images that tiles become in the function.
void takeInBehind(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
