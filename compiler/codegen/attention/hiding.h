// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a body hides logits: the comparisons of indices that all must hold where a logit is not hidden (key_range.h).
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

/// One comparison: the logit is hidden unless difference = x - y passes, which grows by one from key to key.
struct KeyBound {
  mlir::arith::CmpIOp comparison;
  bool holds;       // the comparison is true where the logit is seen; else it is false
  mlir::Value x, y; // of the body
  bool isUpper;     // seen: x - y < 0, else > 0
  bool orEqual;     // or equal
  bool followsRows; // falls by one from row to row; else it does not depend on them
};

struct Hiding {
  llvm::SmallVector<KeyBound> bounds;
  bool isWhole = false;    // there are no other conditions
  bool isInfinite = false; // by -inf
  bool isOnly = false;     // nothing else chooses between two numbers
};

/// What hides the logits; nothing where no such comparison is known.
std::optional<Hiding> hidingOf(const AttentionKernel &kernel);

} // namespace tenon::compiler::codegen
