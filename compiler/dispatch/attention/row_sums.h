// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What softmax's gradient subtracts in each row, where front ends write it with the weights:
//
//   by_weights[b, i, j] = sum over e of given[b, i, e] * value[b, j, e]
//   rows[b, i]          = sum over j of weights[b, i, j] * by_weights[b, i, j]
//
// That needs all weights at once. Sums change places, and the result of the attention takes theirs:
//
//   rows[b, i]          = sum over e of given[b, i, e] * out[b, i, e]        out: the sum over j of weights * value
//
// Where the result is computed from weights that are rounded, or is rounded itself, so are these sums then, which the
// program did not ask for. A kernel that stores no weights has no others.
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

#include <string>

namespace tenon::compiler::dispatch {

/// Does so wherever sums of the weights of `match` are read. @return whether there were some
/// @param left where it is given, sums that would be rounded are left, and it says what they and their readers are: the
/// same of layers that are alike
bool exchangeRowSums(const AttentionMatch &match, std::string *left = nullptr);

} // namespace tenon::compiler::dispatch
