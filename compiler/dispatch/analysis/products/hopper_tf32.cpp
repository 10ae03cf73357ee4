// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

/// Its function or its module.
static bool isSaidOf(Operation *op, StringRef attribute) {
  Operation *const places[] = {op->getParentOfType<func::FuncOp>(), op->getParentOfType<ModuleOp>()};
  return llvm::any_of(places, [&](Operation *each) { return each && each->hasAttr(attribute); });
}

bool isForHopper(Operation *op) {
  return isSaidOf(op, kHopperOnlyAttr);
}

bool hasHopperTf32(Operation *op) {
  return isSaidOf(op, kTf32Attr) && isForHopper(op);
}

bool hasBoxes(linalg::GenericOp op) {
  constexpr int64_t kBytes = 16;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    const AffineMap map = op.getMatchingIndexingMap(operand);
    if (map.getNumResults() == 0 || !isa<AffineDimExpr>(map.getResults().back()))
      return false;
    const int64_t size = sizes[map.getDimPosition(map.getNumResults() - 1)];
    return !ShapedType::isDynamic(size) && size * elementBytes(getElementTypeOrSelf(operand->get())) % kBytes == 0;
  });
}

} // namespace tenon::compiler::dispatch
