// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The products that the weights of a last product are computed from:
//
//   scores[b, i, j] = sum over k of q[b, i, k] * key[b, j, k]
//
// with the batch and the rows of the last product, and its reduced loop, the keys, as their columns.
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

namespace tenon::compiler::dispatch {

/// Finds the products that `found.logits` is computed from, `most` of them at most, and the loops that the logits have.
/// `found` knows the last product and its keys. False where there are none; `reason` says why.
bool findScores(AttentionMatch &found, Terms &terms, const Contraction &product, bool weightsAreLeft, unsigned most,
                std::string &reason);

/// Whether a product adds to nothing that was there.
bool startsFromZero(mlir::linalg::GenericOp product);

} // namespace tenon::compiler::dispatch
