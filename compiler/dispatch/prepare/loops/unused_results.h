// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that nobody reads. Front ends write a maximum with the place where it is, and mean the maximum alone:
//
//   %largest, %place = max(x), argmax(x)      %place is read by nothing
//
// The place is compared and carried on in every step, and what looks for a maximum does not see one.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tenon::compiler::dispatch {

/// The operation without some of its results, which the others are not computed from; the others' readers read it.
/// Nothing where no result is left: then `op` is gone.
/// @param instead [results] what readers of the dropped results read; null where there are none
mlir::linalg::GenericOp withoutResults(mlir::linalg::GenericOp op, const llvm::SmallBitVector &dropped,
                                       llvm::ArrayRef<mlir::Value> instead);

/// Drops results that nobody reads and that no other result is computed from, where the others say all sizes.
void dropUnusedResults(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
