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
  bool isWhole = false;       // there are no other conditions
  bool weighsNothing = false; // what is hidden has the weight 0: by -inf, or of a chain, by 0
  bool isOnly = false;        // nothing else chooses between two numbers
  mlir::Value shown;          // of the body: the logit where it is not hidden
};

/// What hides the logits; nothing where no such comparison is known. `rows`: of a tile.
std::optional<Hiding> hidingOf(const GroupShape &shape, const Attention &attention, uint32_t rows);

/// Whether the same comparisons hide the keys of all parts of twins.
bool hideTheSame(const GroupShape &shape, llvm::ArrayRef<Attention> parts, uint32_t rows);

/// Whether no more is done with scores than to scale them and to hide keys by comparisons of indices.
bool isPlain(const GroupShape &shape, const Attention &attention, uint32_t rows);

/// What a score is multiplied by, where a logit that is not hidden is that and nothing else: more than 0.
std::optional<double> scaleOf(const Attention &attention, const std::optional<Hiding> &hiding);

} // namespace tenon::compiler::codegen
