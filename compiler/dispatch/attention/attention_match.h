// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attention (match.h), or a chain (chain.h), as it was found: its last product, and what the weights are computed
// from.
#pragma once

#include "compiler/dispatch/analysis/contraction.h"
#include "compiler/dispatch/attention/expression.h"

namespace tenon::compiler::dispatch {

/// On a softmax of an attention: AttentionMatch::hiddenIsZero.
inline constexpr llvm::StringLiteral kHiddenIsZero = "tenon.hidden_is_zero";

struct AttentionMatch {
  mlir::linalg::GenericOp output;       // the anchor of all terms
  unsigned weights = 0;                 // which input of it
  unsigned keys = 0;                    // its loop over the keys
  llvm::SmallVector<unsigned> parallel; // its loops that the logits have, in order: without keys
  Term logits;
  double factor = 1; // more than 0, that logits are to be multiplied by: weights are exp(factor (logits - max))
  llvm::SmallVector<mlir::linalg::GenericOp, 2> scores; // one of a softmax
  bool hiddenIsZero = false;                            // of a row all of whose logits are -inf, the result
  // Where the division comes behind: the operation, and what in its body divides.
  mlir::linalg::GenericOp divides;
  mlir::Operation *division = nullptr;
};

} // namespace tenon::compiler::dispatch
