// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/donation.h"

#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace tenon::compiler {

namespace {

/// Whether the function assigns to the argument.
bool isAssigned(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto alias = dyn_cast<hal::TensorAliasOp>(user);
    return alias && alias.getStorage() == argument;
  });
}

} // namespace

bool readsAtEnd(Operation *op) {
  return isa<check::CheckDialect>(op->getDialect()) || isa<tensor::ExtractOp, util::GlobalStoreOp>(op);
}

bool isGivenUp(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock() || !isa<RankedTensorType>(argument.getType()))
    return false;
  // What a function assigns is all that its caller may see. Where that depends on the path that a call takes, or where
  // the host looks at values when the block is done, what is assigned is computed elsewhere and copied.
  if (isAssigned(argument))
    return function.getBody().hasOneBlock() && llvm::none_of(function.getBody().front(), [](Operation &op) {
             return readsAtEnd(&op) || isa<RegionBranchOpInterface>(op);
           });
  return bool(function.getArgAttr(argument.getArgNumber(), kDonatedAttr));
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
