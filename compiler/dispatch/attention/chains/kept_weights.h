// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are kept: five products of the gradients of attention in a fixed order. The kernel of twins
// (twins.h) stores the second weights, as the factors that they are, and the product that sums them over their rows
// is one like any other, which reads them. In one kernel for all there would be five, too, but in whatever order
// (../triplets.h).
//
//   %p, %d = linalg.generic ... ins(%scores, %by_p, ...) {tenon.chain = 0}
//   %kept = linalg.generic ... ins(%d) {tenon.chain = 0, tenon.across}      // rounds them
//   %by_q = linalg.generic ... ins(%kept, %k)
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Behind joinTwins(): twins store their second weights for the product that sums them over their rows, where no mask
/// leaves some out. What was there is left without a reader.
/// @param most bytes of the weights of one attention
void keepWeights(mlir::func::FuncOp function, int64_t most);

} // namespace tenon::compiler::dispatch
