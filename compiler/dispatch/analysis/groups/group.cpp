// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/group.h"

#include "compiler/dispatch/analysis/groups/gate_loop.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

std::optional<unsigned> loopOf(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

bool reduces(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0;
}

bool holdsChain(ArrayRef<linalg::GenericOp> ops) {
  return ops.size() > 1 && llvm::any_of(ops, [](linalg::GenericOp op) { return op->hasAttr(kChainAttr); });
}

linalg::GenericOp weightsOf(ArrayRef<linalg::GenericOp> ops) {
  for (linalg::GenericOp op : ops)
    if (op->hasAttr(kChainAttr) && op.getNumReductionLoops() == 0)
      return op;
  return {};
}

Value beforeSoftmax(Value value) {
  auto softmax = value.getDefiningOp<linalg::SoftmaxOp>();
  return softmax ? softmax.getInput() : value;
}

bool isOfAttention(linalg::GenericOp op) {
  auto isSoftmax = [](Operation *other) { return isa_and_nonnull<linalg::SoftmaxOp>(other); };
  if (op.getNumReductionLoops() == 0)
    return false;
  if (op->hasAttr(kChainAttr) || op->hasAttr(kLogSumExp))
    return true;
  if (llvm::any_of(op.getDpsInputs(), [&](Value input) { return isSoftmax(input.getDefiningOp()); }))
    return true;
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isSoftmax(user) || (isa<linalg::GenericOp>(user) && llvm::any_of(user->getUsers(), isSoftmax));
  });
}

SmallVector<bool> Group::axesOf(linalg::GenericOp op) const {
  SmallVector<bool> axes(numAxes());
  for (unsigned axis : axisOf.lookup(op))
    axes[axis] = true;
  return axes;
}

bool Group::coversAllAxes(linalg::GenericOp op) const {
  return axisOf.lookup(op).size() == numAxes();
}

bool Group::isPerRow(linalg::GenericOp op) const {
  if (reduces(op))
    return op != logSum;
  const SmallVector<bool> axes = axesOf(op);
  const std::optional<unsigned> gates = gatesAxisOf(ops, axisOf); // one row has all of them
  bool differs = false;
  for (auto [axis, has] : llvm::enumerate(axes))
    differs |= has == isReduced[axis] && axis != gates;
  return hasReduction() && !differs;
}

bool Group::knowsReduction(Value value) const {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !contains(op))
    return false;
  return reduces(op) || llvm::any_of(op->getOperands(), [&](Value operand) { return knowsReduction(operand); });
}

bool isReadOutside(Value value, const Group &group) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    while (user && user->getBlock() != value.getParentBlock())
      user = user->getParentOp(); // a body that reads the tensor by itself
    return !user || !group.contains(user);
  });
}

} // namespace tenon::compiler::dispatch
