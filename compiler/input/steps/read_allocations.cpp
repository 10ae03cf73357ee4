// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bufferization says of tensors before there are any buffers: here is a new one, and this is to be in that one. As
// values they are a tensor.empty, or the tensor that is copied.
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

LogicalResult readAllocation(bufferization::AllocTensorOp op) {
  OpBuilder builder(op);
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || op.getSizeHint())
    return op.emitOpError() << "is not supported: a tensor with a rank, and without a size hint, is wanted";
  Value made = op.getCopy();
  if (!made)
    made = tensor::EmptyOp::create(builder, op.getLoc(), type, op.getDynamicSizes());
  op.replaceAllUsesWith(made);
  op.erase();
  return success();
}

LogicalResult readMaterialization(bufferization::MaterializeInDestinationOp op) {
  if (op->getNumResults() != 1)
    return op.emitOpError() << "is not supported: it writes to a memref, and a program has tensors";
  op.getResult().replaceAllUsesWith(op.getSource());
  op.erase();
  return success();
}

} // namespace

LogicalResult readAllocations(ModuleOp module) {
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<bufferization::BufferizationDialect>(op->getDialect()))
      operations.push_back(op);
  });
  bool ok = true;
  for (Operation *op : operations) {
    if (auto allocation = dyn_cast<bufferization::AllocTensorOp>(op))
      ok &= succeeded(readAllocation(allocation));
    else if (auto materialization = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
      ok &= succeeded(readMaterialization(materialization));
    else
      ok &= succeeded(LogicalResult(op->emitOpError() << "is not supported: of bufferization, alloc_tensor and "
                                                         "materialize_in_destination are read"));
  }
  return success(ok);
}

} // namespace tenon::compiler::input
