// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop of a product that runs over the gates of a recurrent cell (gates.h).
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// On such a product.
inline constexpr llvm::StringLiteral kGatesAttr = "tenon.gates";

/// The loop behind the last dimension of its result; nothing of any other operation.
inline std::optional<unsigned> gatesLoopOf(mlir::linalg::GenericOp op) {
  if (!op->hasAttr(kGatesAttr))
    return std::nullopt;
  const mlir::AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0));
  auto last = llvm::dyn_cast<mlir::AffineDimExpr>(result.getResults().back());
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

/// The axis that it is, of those of a group's operations; nothing where none of them is such a product.
inline std::optional<unsigned>
gatesAxisOf(llvm::ArrayRef<mlir::linalg::GenericOp> ops,
            const llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> &axisOf) {
  for (mlir::linalg::GenericOp op : ops)
    if (const std::optional<unsigned> loop = gatesLoopOf(op))
      return axisOf.find(op)->second[*loop];
  return std::nullopt;
}

} // namespace tenon::compiler::dispatch
