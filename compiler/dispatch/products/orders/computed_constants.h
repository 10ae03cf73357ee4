// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of weights that the program holds: they are the same in every call, so the compiler makes them, and the
// program has them instead.
#pragma once

#include "mlir/IR/Builders.h"

namespace tenon::compiler::dispatch {

/// Whether the tensor is a constant whose elements are bytes that can be moved.
bool isMovableConstant(mlir::Value tensor);

/// Such a constant with its dimensions in another order (`order` as in linalg.transpose). Null where it is no such, or
/// there is not memory enough for two of it.
mlir::Value turnedConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, llvm::ArrayRef<int64_t> order);

/// Such a constant as the beginning of a longer one: zeros stand behind it along its dimensions. Null also for a splat,
/// which is one element in the program as it is.
mlir::Value lengthenedConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                               llvm::ArrayRef<int64_t> shape);

} // namespace tenon::compiler::dispatch
