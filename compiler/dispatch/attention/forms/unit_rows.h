// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimensions of one that the products of an attention have and its other operations have not, or have elsewhere: one
// query of each of the heads that share keys, as front ends write it that turn and reshape between all steps.
//
//   scores  4x8x4x1x8192  ->  weights  4x8x4x8192  ->  4x8x4x8192x1  ->  result  4x8x4x128x1  ->  4x32x128
//
// The row of one of the scores is not that of the weights. Where other rows stay, products do without.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Of products whose factor is an exponential: the dimensions that whoever reads the result takes away, and then those
/// of scores that the weights do not have. Reshapes stand where they were.
void dropUnitRows(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
