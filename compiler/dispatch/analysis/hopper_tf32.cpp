// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/hopper_tf32.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/tile_factors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

bool hasHopperTf32(Operation *op) {
  Operation *const places[] = {op->getParentOfType<func::FuncOp>(), op->getParentOfType<ModuleOp>()};
  auto anyHas = [&](StringRef attribute) {
    return llvm::any_of(places, [&](Operation *each) { return each && each->hasAttr(attribute); });
  };
  return anyHas(kTf32Attr) && anyHas(kHopperOnlyAttr);
}

bool isHopperTf32(const Contraction &product) {
  return factorTypeOf(product.left.value).isF32() && factorTypeOf(product.right.value).isF32() &&
         hasHopperTf32(product.op);
}

bool liesAcross(const Contraction &product, const ContractionSide &side) {
  linalg::GenericOp op = product.op;
  if (side.inputs.size() != 1)
    return false;
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(side.inputs.front()));
  return map.getNumResults() != 0 && llvm::none_of(product.reduced, [&](unsigned loop) {
           return map.getResults().back().isFunctionOfDim(loop);
         });
}

} // namespace tenon::compiler::dispatch
