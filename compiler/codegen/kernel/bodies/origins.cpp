// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/origins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Bodies are trees of that many operations above each other, at most, as far as they are looked at.
static constexpr unsigned kMaxDepth = 24;

const KernelOp *Origins::opOf(Value value) const {
  auto found = llvm::find_if(kernel_.ops, [&](const KernelOp &op) { return op.op == value.getDefiningOp(); });
  return found == kernel_.ops.end() ? nullptr : &*found;
}

const KernelInput *Origins::inputOf(const Place &place) {
  for (const KernelInput &input : place.op->inputs)
    if (input.bodyArgument == place.value)
      return &input;
  return nullptr;
}

Place Origins::sourceOf(Place place) const {
  for (;;) {
    if (auto wide = place.value.getDefiningOp<arith::ExtFOp>()) {
      place.value = wide.getIn();
      continue;
    }
    const KernelInput *input = isa<BlockArgument>(place.value) ? inputOf(place) : nullptr;
    if (!input || !input->computed)
      return place;
    const KernelOp *producer = opOf(input->computed);
    if (!producer || linalg::GenericOp(producer->op).getNumReductionLoops() != 0)
      return place;
    const unsigned result = cast<OpResult>(input->computed).getResultNumber();
    place = {producer, linalg::GenericOp(producer->op).getBody()->getTerminator()->getOperand(result)};
  }
}

/// Loops of two operations that are one axis of the group have the same index wherever both are computed.
unsigned Origins::axisOf(const Place &place, linalg::IndexOp index) const {
  return shape_.group.axisOf.lookup(place.op->op)[index.getDim()];
}

bool Origins::areSame(Place a, Place b, unsigned depth) const {
  a = sourceOf(a);
  b = sourceOf(b);
  if (a.op == b.op && a.value == b.value)
    return true;
  if (depth > kMaxDepth || a.value.getType() != b.value.getType())
    return false;
  if (isa<BlockArgument>(a.value) || isa<BlockArgument>(b.value))
    return isSameInput(a, b);
  Operation *x = a.value.getDefiningOp(), *y = b.value.getDefiningOp();
  if (auto i = dyn_cast<linalg::IndexOp>(x), j = dyn_cast<linalg::IndexOp>(y); i && j)
    return axisOf(a, i) == axisOf(b, j);
  if (x->getName() != y->getName() || x->getAttrs() != y->getAttrs() || x->getNumRegions() != 0 ||
      x->getNumOperands() != y->getNumOperands() || x->getNumResults() != 1 ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(x->getDialect()))
    return false;
  return llvm::all_of(llvm::zip_equal(x->getOperands(), y->getOperands()), [&](auto operands) {
    return areSame({a.op, std::get<0>(operands)}, {b.op, std::get<1>(operands)}, depth + 1);
  });
}

bool Origins::isOf(const Place &place, const RowSum &reduction, unsigned depth) const {
  if (depth > kMaxDepth)
    return false;
  const Place source = sourceOf(place);
  if (isa<BlockArgument>(source.value))
    return isReduction(source, reduction);
  Operation *op = source.value.getDefiningOp();
  return op->getBlock() == linalg::GenericOp(source.op->op).getBody() &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isOf({source.op, operand}, reduction, depth + 1); });
}

bool Origins::isReduction(const Place &place, const RowSum &reduction) const {
  const KernelInput *input = isa<BlockArgument>(place.value) ? inputOf(place) : nullptr;
  return input && input->computed == reduction.op->op->getResult(reduction.output);
}

bool Origins::isSameInput(const Place &a, const Place &b) const {
  const KernelInput *x = isa<BlockArgument>(a.value) ? inputOf(a) : nullptr;
  const KernelInput *y = isa<BlockArgument>(b.value) ? inputOf(b) : nullptr;
  if (!x || !y)
    return false;
  if (x->scalar || y->scalar)
    return x->scalar == y->scalar;
  if (x->computed || y->computed)
    return x->computed == y->computed;
  return x->tensor.binding == y->tensor.binding &&
         shape_.mapOf(x->tensor, a.op->op) == shape_.mapOf(y->tensor, b.op->op);
}

} // namespace tenon::compiler::codegen
