// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of a product that are computed with their reduced elements in groups: weights of few bits with a scale for
// each 128 of them,
//
//   w3[n, g, k] = (q[n, g, k] - zero[n, g]) * scale[n, g]      w[n, j] = w3[n, j / 128, j % 128]
//   y[m, n] = sum over j of x[m, j] * w[n, j]
//
// The reshape between them is nothing but names of places, yet the two would not be one kernel. So the product gets the
// groups as a dimension too: y[m, n] = sum over g, k of x3[m, g, k] * w3[n, g, k], where x3 is x as it lies.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Brings products to that form whose kernel computes such a factor: those of few rows.
void expandGroupedFactors(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
