// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, found in plain linalg, whatever operations say it:
//
//   scores[b, i, j]  = sum over k of q[b, i, k] * key[b, j, k]        a contraction
//   logits[b, i, j]  = f(scores[b, i, j], i, j, masks, biases)        any arithmetic
//   weights[b, i, j] = exp(logits - max over j) / sum over j of that  softmax over the keys; also in powers of 2
//   out[b, i, e]     = sum over j of weights[b, i, j] * value[b, j, e]
//
// Each of b, i, e and k is any number of dimensions, in any order; the division may also come behind the last sum.
// Where all logits of a row are -inf that is 0 / 0; a program that wants 0 subtracts 0 for such a maximum, and divides
// by 1 where the sum is 0.
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

namespace tenon::compiler::dispatch {

/// Sees `output` as the last product of an attention. Otherwise, where it looks like one, `reason` says what is in the
/// way ("nothing divides by the sum ..."); elsewhere it is left empty.
/// @param mustBeAlone whether nothing else may read its scores, or what is computed from them, but chains that compute
/// them again
std::optional<AttentionMatch> matchAttention(mlir::linalg::GenericOp output, std::string &reason,
                                             bool mustBeAlone = true);

} // namespace tenon::compiler::dispatch
