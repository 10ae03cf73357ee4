// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scatter reads integers of any width, so what only widens them for it need not be stored: a histogram of bytes reads
// one byte for each element, not four.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

// On a scatter: its indices are read without a sign.
inline constexpr llvm::StringLiteral kUnsignedAttr = "tenon.unsigned";

/// Scatters whose indices were widened from other integers read those.
void narrowIndices(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
