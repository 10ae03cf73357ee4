// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of few rows whose columns are the gates of a recurrent cell, one behind the other, and the cell, which reads
// one column of each. In two kernels, the second takes as long as its launch:
//
//   %p = product(%h[b, k], %w[n, k])                         -> tensor<b x n>      n = 4 u
//   %q = %p + %x                                             in the product's kernel
//   %c = f(%q[b, u], %q[b, u + U], %q[b, u + 2 U], %q[b, u + 3 U])
//
// A block of the product has some columns of every gate where the gates are a dimension of their own, behind the units
// (analysis/groups/gates.h), and then computes the cell from them. Nothing is copied: matrix and summands are the same
// memory, whose columns are two dimensions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void divideIntoGates(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
