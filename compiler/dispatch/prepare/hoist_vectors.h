// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation computes of vectors alone, once for each of their elements and not for each of a matrix:
//
//   y[i, j] = (x[i, j] - mean[j]) * rsqrt(variance[j] + e)
//   -> r[j] = rsqrt(variance[j] + e),  y[i, j] = (x[i, j] - mean[j]) * r[j]
//
// Where a vector lies along the rows of the result, neighbouring threads have different elements of it, so that nobody
// has the root for others. Only what takes many instructions is worth a tensor of its own, and only of vectors that are
// computed here: with the operation that computes them it is one kernel.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void hoistVectors(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
