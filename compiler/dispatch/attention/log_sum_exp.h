// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum of each row's exponentials, which an attention knows when it is done and its gradients are
// computed from (chain.h):
//
//   lse[b, i] = max over j of logits[b, i, j] + log(sum over j of exp(logits - max))
//
// also in powers of 2, or times a constant. It is a second result of the attention's kernel, as one more operation of
// its group, over the logits:
//
//   %lse = linalg.generic {reduction over the keys} ins(%logits) {tenon.log_sum_exp = 0xFFF0... : f64}
//
// The maximum and the sum themselves are nowhere: the kernel sums relative to another number.
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace tenon::compiler::dispatch {

/// Finds what reads the maximum and the sum of `match` beside it, sets `logSums`, and adds to `inside` what is nowhere
/// read but for them. False, with a reason, where such a logarithm cannot be computed behind the attention.
bool findLogSums(AttentionMatch &match, llvm::SmallPtrSetImpl<mlir::Operation *> &inside, std::string &reason);

/// Lets one operation over the logits, in front of the insertion point, compute them all. @return it
mlir::linalg::GenericOp buildLogSums(const AttentionMatch &match, mlir::Value logits, mlir::OpBuilder &b);

} // namespace tenon::compiler::dispatch
