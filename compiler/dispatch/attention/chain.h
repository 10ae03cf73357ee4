// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains: a product reads weights that are computed from one or two other products, element by element, and is the same
// as an attention but for the softmax. The gradients of attention are three of them, which share their products:
//
//   scores = q k'     p = exp(scores - logarithms)     by_p = g v'     by_scores = p (by_p - rows)
//   by_q = by_scores k     by_k = by_scores' q     by_v = p' g
//
// A kernel of its own computes the products again for each chain, on tensor cores, rather than store and read as many
// elements as there are pairs of rows and keys. Operations of a chain have its number (kChainAttr,
// analysis/groups/group.h):
//
//   %s = linalg.generic ... ins(%q, %k) {tenon.chain = 0}            // a copy for this chain
//   %w = linalg.generic ... ins(%s, ...) {tenon.chain = 0}           // loops: as in the last product, the keys last
//   %out = linalg.generic ... ins(%w, %v) {tenon.chain = 0}
#pragma once

#include "compiler/dispatch/attention/attention_match.h"
#include "compiler/dispatch/attention/forms/key_ranges.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <vector>

namespace tenon::compiler::dispatch {

/// `output` as the last product of a chain, whatever else reads its weights.
std::optional<AttentionMatch> chainOf(mlir::linalg::GenericOp output);
/// The chains of a block whose weights nobody else reads, and which are worth it; `logits` of a match are the weights.
std::vector<AttentionMatch> chainsOf(mlir::Block &block);
/// Writes one of them in the form above, and lets the program use it. @return its last product
mlir::linalg::GenericOp buildChain(const AttentionMatch &match, int64_t number, KeyRanges &ranges);

/// Whether all that reads `scores`, the product of an attention, is `inside` it or ends in chains, which multiply
/// again.
bool isReadByChains(mlir::linalg::GenericOp scores, mlir::linalg::GenericOp output,
                    const llvm::SmallPtrSetImpl<mlir::Operation *> &inside);

} // namespace tenon::compiler::dispatch
