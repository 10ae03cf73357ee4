// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rules of several operations ask.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tenon::compiler::linalg_ext {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// As many ins and outs, and for each out a result of its type.
mlir::LogicalResult verifyCounts(mlir::Operation *op, mlir::OperandRange inputs, size_t fewest, size_t most,
                                 mlir::OperandRange outputs, size_t fewestOut, size_t mostOut);
/// 0 <= dimension < rank
mlir::LogicalResult verifyDimension(mlir::Operation *op, int64_t dimension, int64_t rank);

} // namespace tenon::compiler::linalg_ext
