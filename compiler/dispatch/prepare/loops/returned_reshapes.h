// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that are reshaped, computed element by element, and reshaped back. A group norm makes rows of the channels of
// a group, and its affine part wants the channels again:
//
//   %x [n, 320, 64, 64] -> [n, 32, 40960]      (x - mean[n, g]) * root[n, g]      -> [n, 320, 64, 64] -> * weight[c]
//
// In the dimensions in which the tensor came the operation reads the same elements, and the numbers of a row where
// their loop says: mean[n, c floordiv 10]. It is part of what reads it then, and nothing is stored between. Sums over
// the rows stay as they are.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Of tensors of known sizes, and operations of which one elementwise operation alone reads the result.
/// @return whether there were any; their reshapes may be dead
bool computeUnreshaped(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
