// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attention (match.h), or a chain (chain.h), as it was found: its last product, and what the weights are computed
// from.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/attention/forms/expression.h"

namespace tenon::compiler::dispatch {

/// An operation that computes the logarithm of the sum of exponentials of rows, times a factor, and nothing else.
struct LogSum {
  mlir::linalg::GenericOp op;
  double factor = 1;
  llvm::SmallVector<mlir::AffineExpr> row; // which, by its loops: an expression for each of AttentionMatch::parallel
};

struct AttentionMatch {
  mlir::linalg::GenericOp output;       // the anchor of all terms
  unsigned weights = 0;                 // which input of it
  unsigned keys = 0;                    // its loop over the keys
  llvm::SmallVector<unsigned> parallel; // its loops that the logits have, in order: without keys
  Term logits;
  double factor = 1; // more than 0, that logits are to be multiplied by: weights are exp(factor (logits - max))
  llvm::SmallVector<mlir::linalg::GenericOp, 2> scores; // one of a softmax
  bool hiddenIsZero = false;                            // of a row all of whose logits are -inf, the result
  bool isMaximumGuarded = false;                        // -inf is subtracted as 0
  bool startsFinite = false;                            // the maximum starts from the least number, not from -inf
  Term largest, sum;                 // of a row, elements of tensors: its largest logit, its sum of exponentials
  llvm::SmallVector<LogSum> logSums; // that read them
  double hiddenLogSum = 0;           // of a row all of whose logits are -inf
  llvm::SmallVector<mlir::Value> weightTensors; // that hold the weights, of whatever type; none where nothing does
  bool isShared = false; // chains read scores or weights, too: the attention computes its own, and they compute theirs
  // Where the division comes behind: the operation, and what in its body divides.
  mlir::linalg::GenericOp divides;
  mlir::Operation *division = nullptr;
};

} // namespace tenon::compiler::dispatch
