// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where one kernel ends and another begins, elements that are computed from one tensor of no more bytes are computed
// again by the other, rather than stored by the one and read by the other:
//
//   e = tanh(x), m = sum of e down columns | y = e - m, in another kernel
//   -> y = tanh(x) - m:  x is read instead of e, and e is never stored
//
// This is as much to read, and nothing to write. What takes long to compute, or reads more than it computes, is stored.
#pragma once

#include "mlir/IR/Block.h"

namespace tenon::compiler::dispatch {

/// Clones operations of `block` for readers that are in other groups than they are (form_groups.h).
void recomputeAtBoundaries(mlir::Block &block);

} // namespace tenon::compiler::dispatch
