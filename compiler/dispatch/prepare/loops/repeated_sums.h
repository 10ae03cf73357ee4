// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that come to the same for every number of a loop, since nothing that they read depends on it: the product
// of a recurrent network's first state, which is all zeros, and its weights, for each row of the batch.
//
//   %s = linalg.generic ins(%w : tensor<512x2048xf32>) outs(%zeros : tensor<32x2048xf32>)       (b, n, k) -> (k, n)
//
// becomes a reduction without the loop, whose result is read for each of its numbers:
//
//   %s1 = linalg.generic ins(%w) outs(%zero : tensor<2048xf32>)                                    (n, k) -> (k, n)
//   %s = linalg.generic ins(%s1 : tensor<2048xf32>) outs(%e : tensor<32x2048xf32>)                    (b, n) -> (n)
//
// Of a batch of one the loop repeats nothing, but makes a window of what is a sum of rows.
//
// Each result is computed from the same elements in the same way; NaNs and infinities stay what they are.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// @return whether there is one
bool reduceOnce(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
