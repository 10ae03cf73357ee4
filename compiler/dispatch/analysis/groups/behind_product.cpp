// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/behind_product.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr unsigned kMostDepth = 16;

/// What was fused into another one is dead, and still there.
bool hasOneReader(linalg::GenericOp op) {
  return llvm::count_if(op->getUses(), [](OpOperand &use) { return !isOpTriviallyDead(use.getOwner()); }) == 1;
}

bool isBehindProduct(linalg::GenericOp op, unsigned depth);

/// Whether the operand is such a product's result, or what others make of it.
bool isOfProduct(OpOperand *input, unsigned depth) {
  auto op = cast<linalg::GenericOp>(input->getOwner());
  auto before = input->get().getDefiningOp<linalg::GenericOp>();
  if (!before || !before.hasPureTensorSemantics() || before->getBlock() != op->getBlock() || !hasOneReader(before) ||
      !op.getMatchingIndexingMap(input).isPermutation())
    return false;
  return before.getNumReductionLoops() == 0 ? isBehindProduct(before, depth + 1)
                                            : !isOfAttention(before) && (contractionOf(before) || isWindow(before));
}

bool isBehindProduct(linalg::GenericOp op, unsigned depth) {
  return depth < kMostDepth && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) { return isOfProduct(input, depth); });
}

} // namespace

bool isBehindProduct(linalg::GenericOp op) {
  return isBehindProduct(op, 0);
}

bool narrowsProduct(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op->getNumResults() != 1)
    return false;
  const uint32_t bytes = elementBytes(getElementTypeOrSelf(op->getResult(0).getType()));
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return isa<RankedTensorType>(input->get().getType()) && isOfProduct(input, 0) &&
           elementBytes(getElementTypeOrSelf(input->get().getType())) > bytes;
  });
}

} // namespace tenon::compiler::dispatch
