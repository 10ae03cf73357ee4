// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A softmax between two products that no one kernel computes, taken apart into what linalg has for it: maxima,
// exponentials, their sums, a division.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// On a softmax of an attention: of a row all of whose logits are -inf it is 0, not 0 / 0.
inline constexpr llvm::StringLiteral kHiddenIsZero = "tenon.hidden_is_zero";

/// What a row that is hidden becomes is the same as in a kernel of attention.
/// @return whether it was taken apart; what is no softmax of floats stays
bool openSoftmax(mlir::linalg::SoftmaxOp softmax);

} // namespace tenon::compiler::dispatch
