// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of operands of large matrix products.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether `op` multiplies two matrices, or a batch of them, of sizes that are known, or of any in tf32.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// Copies operands of a large product where that pays, and replaces the operation by one that reads the copies.
void alignOperands(mlir::linalg::LinalgOp op);

/// Whether a large product reads a transposed copy here of rows that it had better not read as they are, or a
/// convolution one with its channels last.
bool readsTurnedCopy(mlir::OpOperand &operand);

} // namespace tenon::compiler::dispatch
