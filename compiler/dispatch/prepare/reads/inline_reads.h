// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A concatenation or a pad reads its parts by tensor.extract. Where a part is computed by an elementwise operation that
// nobody else reads, the body of the concatenation computes the element instead: it is never stored. Rotary embedding,
// two halves that are computed and put side by side, is one kernel so.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// @return whether something was inlined
bool inlineReads(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
