// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Twins: two chains (chain.h) of the same rows and keys, one of which multiplies what the other does. The gradients of
// attention by keys and by values are such: both go through all queries for each key, and both know the weights.
//
//   scores = k q'      p = exp(scores - logarithms)                   by_v = p g
//   scores = k q'      by_p = v g'      by_scores = p (by_p - rows)   by_k = by_scores q
//
// One kernel for both computes the scores and their exponentials once. Their weights are one operation with two
// results, so that what they share is the same values:
//
//   %p, %d = linalg.generic ... ins(%scores, %by_p, ...) {tenon.chain = 0}
//   %by_v = linalg.generic ... ins(%p, %g) {tenon.chain = 0}
//   %by_k = linalg.generic ... ins(%d, %q) {tenon.chain = 0}
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Makes one of any two chains of the function, in the form of chain.h, that are twins and worth it on Hopper. The
/// first result of their weights needs fewer products than the second.
void joinTwins(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
