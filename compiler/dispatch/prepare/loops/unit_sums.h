// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over one element of a dimension has no need of it: a convolution with windows of one element is a product of
// matrices then, and its filters are one.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of gradients by filters (sumsOverPlaces in convolution.h): a loop of one step adds nothing to an index that it
/// shares with others. image[n, y + ky, x + kx, c] is image[n, y, x, c] for a window of one. Then sums over loops that
/// every operand has side by side, n, y and x, are one.
void dropUnitOffsets(mlir::func::FuncOp function);

/// Sums over loops that every operand has side by side become one loop.
/// @return the operation, or what it has become, where it is gone
mlir::linalg::GenericOp joinSums(mlir::linalg::GenericOp op);

/// Sums of unknown size over all dimensions of tensors, such as a loss, become sums over one: those are taken apart
/// into parts however long each dimension turns out to be (splits/).
void joinSumsOfAll(mlir::func::FuncOp function);

/// Drops reduced loops of one element where another one stays, and the dimensions of operands that they run over.
void dropUnitSums(mlir::func::FuncOp function);

/// What reduces one element alone, and is no product or window, computes each element of its result from another one:
/// whether all numbers of an index are inside, where an index is one number.
void dropUnitReductions(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
