// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/in_place/overwriting.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Loops in their order, some of them left out: a thread reads near where it writes, and no tile is turned.
bool isInOrder(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr expr : map.getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || int64_t(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
  }
  return true;
}

/// One loop nest over the elements of its results, each of which is computed from what stands at its place in the
/// argument.
bool isElementByElement(func::FuncOp kernel, unsigned result, BlockArgument argument) {
  SmallVector<Operation *> loops;
  for (Operation &op : kernel.front())
    if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op))
      loops.push_back(&op);
  auto generic = loops.size() == 1 ? dyn_cast<linalg::GenericOp>(loops.front()) : linalg::GenericOp();
  if (!generic || generic.getNumReductionLoops() != 0)
    return false;
  auto returned = dyn_cast<OpResult>(kernel.front().getTerminator()->getOperand(result));
  if (!returned || returned.getOwner() != generic)
    return false;
  const SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  const unsigned inputs = generic.getNumDpsInputs();
  if (!llvm::all_of(ArrayRef(maps).take_front(inputs), isInOrder) ||
      !llvm::all_of(ArrayRef(maps).drop_front(inputs), [](AffineMap map) { return map.isIdentity(); }))
    return false;
  return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
    return use.getOwner() == generic && use.getOperandNumber() < inputs && maps[use.getOperandNumber()].isIdentity();
  });
}

bool isScatteredInto(func::FuncOp kernel, unsigned result, BlockArgument argument) {
  auto returned = dyn_cast<OpResult>(kernel.front().getTerminator()->getOperand(result));
  auto scatter = returned ? dyn_cast<linalg_ext::ScatterOp>(returned.getOwner()) : linalg_ext::ScatterOp();
  return scatter && argument.hasOneUse() &&
         &*argument.use_begin() == &linalg_ext::initOf(scatter, returned.getResultNumber());
}

} // namespace

Overwriting overwrites(func::FuncOp kernel, unsigned result, unsigned argument) {
  BlockArgument operand = kernel.getArgument(argument);
  if (operand.getType() != kernel.getResultTypes()[result] || !isa<RankedTensorType>(operand.getType()) ||
      kernel.getArgAttr(argument, kDimsAttr) != kernel.getResultAttr(result, kDimsAttr) || operand.use_empty())
    return Overwriting::No;
  if (isScatteredInto(kernel, result, operand))
    return Overwriting::AsItIs;
  return isElementByElement(kernel, result, operand) ? Overwriting::IfItKnows : Overwriting::No;
}

} // namespace tenon::compiler::dispatch
