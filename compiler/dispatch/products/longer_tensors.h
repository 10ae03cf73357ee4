// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that become longer so that their rows are aligned: an operand with zeros behind its elements, and a result of
// whose rows whoever reads it takes the first elements.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// A copy of the shape, which is no smaller in any dimension, with zeros behind the elements of each.
/// @param source of known sizes
mlir::Value lengthenedCopy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, llvm::ArrayRef<int64_t> shape);

/// The result of an operation that starts from a fill, with the operations behind it that compute each element from one
/// of it, becomes one of larger dimensions; what is behind these reads the first elements of each.
void widenResult(mlir::linalg::GenericOp op, llvm::ArrayRef<int64_t> shape);

} // namespace tenon::compiler::dispatch
