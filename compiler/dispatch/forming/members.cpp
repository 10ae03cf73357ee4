// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/members.h"

#include "compiler/dispatch/analysis/groups/group.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

void addSoftmaxes(llvm::SmallPtrSetImpl<Operation *> &inside, const Members &members) {
  for (linalg::GenericOp op : members)
    for (Value operand : op->getOperands())
      if (Value before = beforeSoftmax(operand); before != operand && inside.contains(before.getDefiningOp()))
        inside.insert(operand.getDefiningOp());
}

void sortByPosition(Members &members) {
  llvm::sort(members, [](linalg::GenericOp a, linalg::GenericOp b) { return a->isBeforeInBlock(b); });
}

bool moveReadersBehind(Members &members) {
  sortByPosition(members);
  llvm::SmallPtrSet<Operation *, 16> late(llvm::from_range, members);
  addSoftmaxes(late, members);
  SmallVector<Operation *> moved;
  for (Operation *op = members.front(), *last = members.back(); op != last; op = op->getNextNode()) {
    if (late.contains(op))
      continue;
    bool reads = false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        reads |= late.contains(operand.getDefiningOp());
    });
    if (!reads)
      continue;
    late.insert(op);
    moved.push_back(op);
  }
  Operation *after = members.back();
  for (Operation *op : moved) {
    op->moveAfter(after);
    after = op;
  }
  return !moved.empty();
}

} // namespace tenon::compiler::dispatch
