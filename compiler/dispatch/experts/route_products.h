// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products whose rows name the matrix that they are multiplied by (dispatch/analysis/products/routes.h) get the table
// by which their kernels find rows of the same expert:
//
//   %e = linalg.generic                      the expert of each row, i32; none where a tensor holds it as it is
//   %t = iree_linalg_ext.route ins(%e)       the table
//   %y = linalg.generic {tenon.routed} ins(..., %t)   the product, as it was, and the table behind its inputs
//
// Products of the same rows and experts share a table.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void routeProducts(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
