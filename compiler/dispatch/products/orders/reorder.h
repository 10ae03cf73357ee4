// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors whose dimensions are put in another order, and what computes and reads them.
#pragma once

#include "compiler/dispatch/products/orders/orders.h"

namespace tenon::compiler::dispatch {

/// Reads an operand whose dimensions lie in that order now.
void turnRead(mlir::OpOperand &operand, llvm::ArrayRef<int64_t> order);

/// The result, and what it is written to, in that order.
void turnResultOf(mlir::OpResult result, llvm::ArrayRef<int64_t> order);

/// A reshape whose result is to lie in `order`, and what it is made of so that groups of dimensions stay together.
/// @param shorter the order of the one of both that has no groups
void turnReshape(mlir::Operation *reshape, llvm::ArrayRef<int64_t> order, llvm::ArrayRef<int64_t> shorter);

/// Loops in the order of the result's dimensions, those that are summed over behind.
void orderLoops(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
