// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A softmax between two products that no one kernel computes, taken apart into what linalg has for it: maxima,
// exponentials, their sums, a division.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of a row all of whose logits are -inf it is 0 where the program says so (kHiddenIsZero,
/// attention/attention_match.h), as it is in a kernel of attention; else 0 / 0.
/// @return whether it was; what is no softmax of floats stays
bool openSoftmax(mlir::linalg::SoftmaxOp softmax);

} // namespace tenon::compiler::dispatch
