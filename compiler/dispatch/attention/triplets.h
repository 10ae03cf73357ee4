// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triplets: twins (chains/twins.h) and the chain that multiplies their second weights the other way around. Of the
// gradients of attention, that by queries has the same weights as that by keys; the one sums them over keys, the other
// over queries:
//
//   scores = k q'      p = exp(scores - logarithms)                   by_v = p g
//   scores = k q'      by_p = v g'      by_scores = p (by_p - rows)   by_k = by_scores q      by_q = by_scores' k
//
// A kernel of its own for by_q multiplies two products again: seven in all. In one kernel for the three there are five.
// A block of it has some keys and goes through all queries, so that each block has a part of every row of by_q. Parts
// are added up in memory, in f32, by atomic operations, in whatever order blocks come to it: last bits of the sum
// differ from run to run.
//
//   %p, %d = linalg.generic ... ins(%scores, %by_p, ...) {tenon.chain = 0}
//   %by_v = linalg.generic ... ins(%p, %g) {tenon.chain = 0}
//   %by_k = linalg.generic ... ins(%d, %q) {tenon.chain = 0}
//   %by_q = linalg.generic ... ins(%d, %k) {tenon.chain = 0, tenon.across}
//
// In a fixed order there are five products, too, where the weights are kept (chains/kept_weights.h).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Writes all chains of the function in the form of chain.h, and says of their last products which tensor of the
/// program held the weights, so that joinTriplets() knows what is the same. @return how many there are
int64_t buildChains(mlir::func::FuncOp function);

/// Behind joinTwins(): twins take in the chain of their second weights, where Hopper's kernel has all three. What was
/// there is left without a reader.
void joinTriplets(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
