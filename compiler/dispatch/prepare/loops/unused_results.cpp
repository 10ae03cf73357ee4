// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unused_results.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Which arguments of the body the yielded values that stay are computed from.
llvm::SmallBitVector argumentsOf(linalg::GenericOp op, const llvm::SmallBitVector &dropped) {
  llvm::SmallBitVector arguments(op.getBody()->getNumArguments());
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open;
  for (auto [number, value] : llvm::enumerate(op.getBody()->getTerminator()->getOperands()))
    if (!dropped.test(number))
      open.push_back(value);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == op.getBody())
        arguments.set(argument.getArgNumber());
      continue;
    }
    Operation *outer = op.getBody()->findAncestorOpInBlock(*value.getDefiningOp());
    if (outer && seen.insert(outer).second)
      outer->walk([&](Operation *inner) { llvm::append_range(open, inner->getOperands()); });
  }
  return arguments;
}

void dropUnused(linalg::GenericOp op) {
  llvm::SmallBitVector dropped(op->getNumResults());
  for (OpResult result : op->getResults())
    dropped[result.getResultNumber()] = result.use_empty();
  if (dropped.none() || dropped.all())
    return;
  const llvm::SmallBitVector arguments = argumentsOf(op, dropped);
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    const unsigned number = operand.getOperandNumber(), inputs = op.getNumDpsInputs();
    if (number >= inputs && dropped.test(number - inputs)) {
      if (arguments.test(number))
        return;
      continue;
    }
    maps.push_back(op.getMatchingIndexingMap(&operand));
  }
  if (inversePermutation(concatAffineMaps(maps, op.getContext())))
    (void)withoutResults(op, dropped, {});
}

} // namespace

linalg::GenericOp withoutResults(linalg::GenericOp op, const llvm::SmallBitVector &dropped, ArrayRef<Value> instead) {
  const unsigned inputs = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> starts = llvm::to_vector(op.getDpsInits());
  Block *body = op.getBody();
  for (unsigned number = dropped.size(); number-- > 0;)
    if (dropped.test(number)) {
      maps.erase(maps.begin() + inputs + number);
      starts.erase(starts.begin() + number);
      body->getTerminator()->eraseOperand(number);
    }
  // What was computed for them alone reads their starts, perhaps.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  body->eraseArguments([&](BlockArgument argument) {
    return argument.getArgNumber() >= inputs && dropped.test(argument.getArgNumber() - inputs);
  });
  linalg::GenericOp rest;
  if (!starts.empty()) {
    OpBuilder b(op);
    rest = linalg::GenericOp::create(b, op.getLoc(), ValueRange(starts).getTypes(), op.getDpsInputs(), starts, maps,
                                     op.getIteratorTypesArray());
    rest->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rest.getRegion().takeBody(op.getRegion());
  }
  unsigned next = 0;
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    if (!dropped.test(number))
      result.replaceAllUsesWith(rest->getResult(next++));
    else if (number < instead.size() && instead[number])
      result.replaceAllUsesWith(instead[number]);
  }
  op->erase();
  return rest;
}

void dropUnusedResults(func::FuncOp function) {
  SmallVector<linalg::GenericOp> operations;
  function.walk([&](linalg::GenericOp op) {
    if (op->getNumResults() > 1 && op.hasPureTensorSemantics())
      operations.push_back(op);
  });
  for (linalg::GenericOp op : operations)
    dropUnused(op);
}

} // namespace tenon::compiler::dispatch
