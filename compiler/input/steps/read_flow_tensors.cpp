// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow's operations that move elements, as those of MLIR's tensor dialect: they name each dynamic size, which those
// find out.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/shared/assembly.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// The sizes of a type; a dynamic one is the value that stands for its dimension in `values`, which has all of them.
SmallVector<OpFoldResult> sizesOf(OpBuilder &builder, RankedTensorType type, ValueRange values) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    sizes.push_back(type.isDynamicDim(dimension) ? OpFoldResult(values[dimension])
                                                 : OpFoldResult(builder.getIndexAttr(type.getDimSize(dimension))));
  return sizes;
}

SmallVector<OpFoldResult> ones(OpBuilder &builder, int64_t count) {
  return SmallVector<OpFoldResult>(count, builder.getIndexAttr(1));
}

/// Lengths that are constants and not the result's sizes: what the operation says twice, it says differently.
LogicalResult checkLengths(flow::TensorSliceOp op) {
  for (auto [dimension, length] : llvm::enumerate(op.getLengths())) {
    const std::optional<int64_t> known = getConstantIntValue(length);
    const int64_t size = op.getType().getDimSize(int64_t(dimension));
    if (known && !ShapedType::isDynamic(size) && *known != size)
      return op.emitOpError() << "takes " << *known << " elements of dimension " << dimension << ", its result has "
                              << size;
  }
  return success();
}

/// What the operation is; nothing: it is none of those that are read here, and stays.
FailureOr<Value> read(Operation *op) {
  OpBuilder b(op);
  const Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case<flow::TensorSliceOp>([&](flow::TensorSliceOp slice) -> FailureOr<Value> {
        if (failed(checkLengths(slice)))
          return failure();
        return Value(tensor::ExtractSliceOp::create(
            b, loc, slice.getType(), slice.getSource(), getAsOpFoldResult(slice.getStartIndices()),
            sizesOf(b, slice.getType(), slice.getLengths()), ones(b, slice.getType().getRank())));
      })
      .Case<flow::TensorUpdateOp>([&](flow::TensorUpdateOp update) {
        const RankedTensorType part = update.getUpdate().getType();
        return Value(tensor::InsertSliceOp::create(
            b, loc, update.getUpdate(), update.getTarget(), getAsOpFoldResult(update.getStartIndices()),
            shapeWith(b, part, update.getUpdateDims()), ones(b, part.getRank())));
      })
      .Case<flow::TensorSplatOp>([&](flow::TensorSplatOp splat) {
        return Value(tensor::SplatOp::create(b, loc, splat.getValue(), splat.getType(), splat.getResultDims()));
      })
      .Case<flow::TensorEmptyOp>([&](flow::TensorEmptyOp empty) {
        return Value(tensor::EmptyOp::create(b, loc, empty.getType(), empty.getResultDims()));
      })
      .Case<flow::TensorCloneOp, flow::TensorTransferOp>([&](auto copy) { return copy.getSource(); })
      .Case<flow::TensorLoadOp>([&](flow::TensorLoadOp load) {
        return Value(tensor::ExtractOp::create(b, loc, load.getSource(), load.getIndices()));
      })
      .Case<flow::TensorStoreOp>([&](flow::TensorStoreOp store) {
        return Value(tensor::InsertOp::create(b, loc, store.getValue(), store.getTarget(), store.getIndices()));
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace

LogicalResult readFlowTensors(ModuleOp module) {
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<flow::FlowDialect>(op->getDialect()))
      operations.push_back(op);
  });
  bool ok = true;
  for (Operation *op : operations) {
    FailureOr<Value> value = read(op);
    ok &= succeeded(value);
    if (failed(value) || !*value)
      continue;
    op->getResult(0).replaceAllUsesWith(*value);
    op->erase();
  }
  return success(ok);
}

} // namespace tenon::compiler::input
