// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantised products: integers of 8 bits that stand for multiples of a scale around a zero point. Tensor cores multiply
// what lies in memory; the zero points are subtracted behind,
//
//   sum of (x - zx) * (w - zw)  =  sum of x * w  -  zx * sum of w  -  zw * sum of (x - zx)
//
// of which the second sum is one number for each filter, and the third one is rarely there: filters mostly have zw = 0.
// All of it holds in integers of 32 bits that wrap around.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Takes the zero points out of the products of a function that tensor cores could multiply then. An image with its
/// zero point around it (tensor.pad) has zeros there: what they are multiplied by is in none of the sums.
void takeOutZeroPoints(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
