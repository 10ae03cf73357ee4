// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/computed_from.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

bool isComputedFrom(linalg::GenericOp op, linalg::GenericOp other, llvm::function_ref<bool(Operation *)> inside) {
  llvm::SetVector<Operation *> open;
  open.insert(op);
  for (size_t next = 0; next < open.size(); ++next) {
    if (open[next] == other)
      return true;
    for (Value operand : open[next]->getOperands())
      if (auto producer = operand.getDefiningOp<linalg::GenericOp>(); producer && inside(producer))
        open.insert(producer);
  }
  return false;
}

} // namespace tenon::compiler::dispatch
