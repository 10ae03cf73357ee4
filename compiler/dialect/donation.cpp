// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/donation.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler {

bool isGivenUp(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock() || !isa<RankedTensorType>(argument.getType()))
    return false;
  return function.getArgAttr(argument.getArgNumber(), kDonatedAttr) ||
         llvm::any_of(argument.getUsers(), [&](Operation *user) {
           auto alias = dyn_cast<hal::TensorAliasOp>(user);
           return alias && alias.getStorage() == argument;
         });
}

bool isRename(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, util::OptimizationBarrierOp,
             flow::TensorTieShapeOp, flow::TensorBitCastOp, flow::TensorReshapeOp>(op);
}

Value withoutRenames(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isRename(op)) // tensor operands come first in every rename
      break;
    tensor = op->getOperand(cast<OpResult>(tensor).getResultNumber());
  }
  return tensor;
}

} // namespace tenon::compiler
