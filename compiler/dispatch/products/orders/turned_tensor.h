// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor with its dimensions in another order.
#pragma once

#include "mlir/IR/Builders.h"

namespace tenon::compiler::dispatch {

/// The tensor with its dimensions in another order: a copy, or, where that moves no elements, the same;
/// of a constant, another one.
mlir::Value turnedTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, llvm::ArrayRef<int64_t> order);

} // namespace tenon::compiler::dispatch
