// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of an operation, taken apart to be changed, and the operation with others (unit_dimensions.h).
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tenon::compiler::dispatch {

/// How a tensor is read without its unit dimensions.
struct DroppedUnits {
  llvm::SmallVector<mlir::ReassociationIndices> groups; // of its dimensions
  mlir::AffineMap map;
};

/// Without those that `map` reads at the number 0; nothing where there is none.
std::optional<DroppedUnits> withoutUnits(mlir::Value tensor, mlir::AffineMap map);

/// How an operation runs: one map for each of its operands.
struct ChangedLoops {
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<mlir::utils::IteratorType> types;

  explicit ChangedLoops(mlir::linalg::GenericOp op)
      : inputs(op.getDpsInputs()), maps(op.getIndexingMapsArray()), types(op.getIteratorTypesArray()) {}
};

/// The operation with `loops`, whose results have no unit dimension that they name by 0. Whoever reads one reads it
/// with them.
mlir::linalg::GenericOp rebuild(mlir::linalg::GenericOp op, ChangedLoops loops);

/// `loops` without those of one that are `dropped`, in the maps and in the body of `op`.
void dropLoops(mlir::linalg::GenericOp op, ChangedLoops &loops, const llvm::SmallBitVector &dropped);

} // namespace tenon::compiler::dispatch
