// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What softmax's gradient subtracts in each row, where front ends write it with the weights:
//
//   by_weights[b, i, j] = sum over e of given[b, i, e] * value[b, j, e]
//   rows[b, i]          = sum over j of weights[b, i, j] * by_weights[b, i, j]
//
// That needs all weights at once. Sums change places, and the result of the attention takes theirs:
//
//   rows[b, i]          = sum over e of given[b, i, e] * out[b, i, e]        out: the sum over j of weights * value
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

namespace tenon::compiler::dispatch {

/// Does so wherever sums of the weights of `match` are read. @return whether there were some
bool exchangeRowSums(const AttentionMatch &match);

} // namespace tenon::compiler::dispatch
