// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/slices.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

bool namesEachOnce(AffineMap map) {
  llvm::SmallBitVector dimensions(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
    if (sum && sum.getKind() == AffineExprKind::Add && isa<AffineConstantExpr>(sum.getRHS()))
      expr = sum.getLHS();
    auto dimension = dyn_cast<AffineDimExpr>(expr);
    if (!dimension || dimensions.test(dimension.getPosition()))
      return false;
    dimensions.set(dimension.getPosition());
  }
  return dimensions.all();
}

bool isCopy(linalg::GenericOp op) {
  return op->getNumResults() == 1 && op.getNumDpsInputs() == 1 && llvm::hasSingleElement(*op.getBody()) &&
         op.getBody()->getTerminator()->getOperand(0) == op.getBody()->getArgument(0);
}

} // namespace tenon::compiler::dispatch
