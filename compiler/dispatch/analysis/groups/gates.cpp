// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/gates.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

std::optional<unsigned> gatesAxisOf(const Group &group) {
  return gatesAxisOf(group.ops, group.axisOf);
}

std::optional<unsigned> gateOf(const Group &group, OpOperand &operand) {
  const std::optional<unsigned> axis = gatesAxisOf(group);
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  if (!axis || !producer || !group.contains(producer) || !llvm::is_contained(group.axisOf.lookup(producer), *axis) ||
      llvm::is_contained(group.axisOf.lookup(op), *axis))
    return std::nullopt;
  auto number = dyn_cast<AffineConstantExpr>(op.getMatchingIndexingMap(&operand).getResults().back());
  return number ? std::optional(unsigned(number.getValue())) : std::nullopt;
}

bool readsGates(const Group &group) {
  return llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) { return gateOf(group, operand).has_value(); });
  });
}

} // namespace tenon::compiler::dispatch
