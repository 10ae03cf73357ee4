// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations become one before groups are formed. One operation computes both, for each element that it needs; so
// what is computed is what reads it, unless that would compute it several times over, or hide what a strategy looks
// for: the factors of a product, the border of an image.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Reads elements of another tensor, or says what it holds, without a transpose: part of whatever reads it, however
/// often. Slices, broadcasts and dimensions of one are such.
bool isView(mlir::linalg::GenericOp producer);

/// Whether what computes `operand` is fused into its owner: views are, and what has one reader, unless that would
/// compute it several times over. For patterns that fuse elementwise operations.
bool shouldFuse(mlir::OpOperand *operand);

/// Marks what attentions had better read than compute, behind those patterns: it gets a kernel of its own
/// (kStoredAttr).
void storeFactors(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
