// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs say `x y^T` by a copy of y that is turned around, and a product that reads it. Whoever multiplies often
// reads y as it lies just as well: then the copy is made part of the product, and never stored.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// The operation that has copied one tensor for this operand, turned, so that other elements are adjacent.
/// @param mayHaveMore dimensions, of one
std::optional<mlir::linalg::GenericOp> turnedCopyOf(mlir::OpOperand &operand, bool mayHaveMore = false);

/// Whether a product of known size reads a transposed copy here of a matrix that its tiles bring as it lies, whichever
/// of its sides the adjacent elements are on: f16 and bf16 on tensor cores, f32 of few rows; of rows that are whole
/// vectors.
bool readsEitherWay(mlir::OpOperand &operand);

} // namespace tenon::compiler::dispatch
