// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One form for every attention: the scores' product as it was, one linalg.generic that computes the logits from them,
// linalg.softmax over the last dimension, the keys, and the last product, which reads the weights:
//
//   %scores  = linalg.generic ... ins(%q, %key)                  // as it was
//   %logits  = linalg.generic ... ins(%scores, %mask, ...)       // loops: as in the last product, the keys last
//   %weights = linalg.softmax dimension(n) ins(%logits)
//   %out     = linalg.generic ... ins(%weights, %value)
//
// From here on a linalg.softmax stands for nothing else (dispatch/analysis/groups/group.h).
#pragma once

#include "compiler/dispatch/attention/attention_match.h"
#include "compiler/dispatch/attention/forms/key_ranges.h"

namespace tenon::compiler::dispatch {

/// Writes that form before the last product, and lets the program use it. What was there is left without a reader.
void buildAttention(const AttentionMatch &match, KeyRanges &ranges);

} // namespace tenon::compiler::dispatch
