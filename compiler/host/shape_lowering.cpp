// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/shape_lowering.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/flow/prefix.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

LogicalResult lowerEmpty(tensor::EmptyOp op, FunctionState &state) {
  FailureOr<Shape> shape = state.shapeFrom(op, op.getType(), op.getDynamicSizes());
  if (failed(shape) || failed(state.checkElementType(op, op.getResult())))
    return failure();
  state.requireNonNegative(op, *shape, "tensor.empty");
  BufferIndex buffer = state.buffers.addTransient(state.bytesOf(op.getType(), *shape), state.lastUse(op.getResult()));
  state.tensors[op.getResult()] = {buffer, *shape, true};
  return success();
}

LogicalResult lowerDim(tensor::DimOp op, FunctionState &state) {
  std::optional<int64_t> index = state.function.registers.constantValue(state.scalars.lookup(op.getIndex()));
  if (!index)
    return op.emitOpError() << "is not supported outside a kernel: which dimension it asks for is not a constant";
  const Shape &shape = state.tensors[op.getSource()].shape;
  if (*index < 0 || *index >= int64_t(shape.size()))
    return op.emitOpError() << "asks for dimension " << *index << " of a tensor of rank " << shape.size();
  state.scalars.define(op.getResult(), shape[size_t(*index)]);
  return success();
}

LogicalResult lowerCast(tensor::CastOp op, FunctionState &state) {
  TensorValue value = state.tensors[op.getSource()];
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return op.emitOpError() << "is not supported: its result has no rank";
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size))
      continue;
    Register wanted = state.function.registers.constant(size);
    std::string name = "dimension " + std::to_string(dim) + " of the operand";
    if (failed(state.requireEqual(op, value.shape[dim], wanted, name, "that of the result")))
      return failure();
    value.shape[dim] = wanted;
  }
  state.tensors[op.getResult()] = value;
  return success();
}

/// A reshape keeps the bytes. `groups` maps each dimension of the lower rank to its dimensions of the higher rank,
/// whose product it must be.
LogicalResult lowerReshape(Operation *op, Value source, Value result, Shape shape,
                           ArrayRef<ReassociationIndices> groups, FunctionState &state) {
  RegisterProgram &registers = state.function.registers;
  const TensorValue &value = state.tensors[source];
  bool expands = shape.size() > value.shape.size();
  const Shape &wide = expands ? shape : value.shape, &narrow = expands ? value.shape : shape;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, wide[size_t(member)]);
    std::string name = "dimension " + std::to_string(dim) + " of the " + (expands ? "operand" : "result");
    std::string productName = "the product of its dimensions in " + op->getName().getStringRef().str();
    if (failed(state.requireEqual(op, narrow[dim], product, name, productName)))
      return failure();
  }
  state.tensors[result] = {value.buffer, std::move(shape), value.undefined};
  return success();
}

LogicalResult lowerExpand(tensor::ExpandShapeOp op, FunctionState &state) {
  FailureOr<Shape> shape = state.shapeFrom(op, op.getResultType(), op.getOutputShape());
  if (failed(shape))
    return failure();
  state.requireNonNegative(op, *shape, "the result of tensor.expand_shape");
  return lowerReshape(op, op.getSrc(), op.getResult(), *shape, op.getReassociationIndices(), state);
}

LogicalResult lowerCollapse(tensor::CollapseShapeOp op, FunctionState &state) {
  RegisterProgram &registers = state.function.registers;
  const TensorValue &value = state.tensors[op.getSrc()];
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  Shape shape;
  for (auto [group, size] : llvm::zip_equal(groups, op.getResultType().getShape())) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, value.shape[size_t(member)]);
    shape.push_back(ShapedType::isDynamic(size) ? product : registers.constant(size));
  }
  return lowerReshape(op, op.getSrc(), op.getResult(), shape, groups, state);
}

/// The dimensions that the program states for a tensor are those that it has.
LogicalResult requireShape(Operation *op, const Shape &found, Type type, ValueRange dims, StringRef where,
                           FunctionState &state) {
  FailureOr<Shape> stated = state.shapeFrom(op, type, dims);
  if (failed(stated))
    return failure();
  for (auto [dim, size] : llvm::enumerate(*stated))
    if (failed(state.requireEqual(op, found[dim], size, "dimension " + std::to_string(dim) + " of the operand",
                                  "the one that " + where.str() + " states")))
      return failure();
  return success();
}

LogicalResult lowerTieShape(flow::TensorTieShapeOp op, FunctionState &state) {
  const TensorValue value = state.tensors[op.getSource()];
  if (failed(requireShape(op, value.shape, op.getType(), op.getDynamicDims(), "flow.tensor.tie_shape", state)))
    return failure();
  state.tensors[op.getResult()] = value;
  return success();
}

/// The same bytes as another type or shape.
template <typename Op> LogicalResult lowerReinterpret(Op op, FunctionState &state) {
  const TensorValue value = state.tensors[op.getSource()];
  const std::string name = op->getName().getStringRef().str();
  FailureOr<Shape> shape = state.shapeFrom(op, op.getType(), op.getResultDims());
  if (failed(shape) || failed(state.checkElementType(op, op.getResult())) ||
      failed(requireShape(op, value.shape, op.getSource().getType(), op.getSourceDims(), name, state)))
    return failure();
  state.requireNonNegative(op, *shape, "the result of " + name);
  Register found = state.bytesOf(op.getSource().getType(), value.shape), wanted = state.bytesOf(op.getType(), *shape);
  if (op->hasAttr(flow::kPrefixAttr))
    state.requireAtMost(op, wanted, found, "the result of " + name + " is larger than its operand");
  else if (failed(state.requireEqual(op, found, wanted, "the size in bytes of the operand of " + name,
                                     "the size in bytes of its result")))
    return failure();
  state.tensors[op.getResult()] = {value.buffer, *shape, value.undefined};
  return success();
}

LogicalResult lowerBarrier(util::OptimizationBarrierOp op, FunctionState &state) {
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    if (isTensor(operand))
      state.tensors[result] = TensorValue(state.tensors[operand]);
    else
      state.scalars.define(result, state.scalars.lookup(operand));
  }
  return success();
}

} // namespace

LogicalResult lowerShape(Operation *op, FunctionState &state) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tensor::DimOp>([&](auto dim) { return lowerDim(dim, state); })
      .Case<tensor::EmptyOp>([&](auto empty) { return lowerEmpty(empty, state); })
      .Case<tensor::CastOp>([&](auto cast) { return lowerCast(cast, state); })
      .Case<tensor::ExpandShapeOp>([&](auto expand) { return lowerExpand(expand, state); })
      .Case<tensor::CollapseShapeOp>([&](auto collapse) { return lowerCollapse(collapse, state); })
      .Case<flow::TensorTieShapeOp>([&](auto tie) { return lowerTieShape(tie, state); })
      .Case<flow::TensorBitCastOp, flow::TensorReshapeOp>([&](auto cast) { return lowerReinterpret(cast, state); })
      .Case<util::OptimizationBarrierOp>([&](auto barrier) { return lowerBarrier(barrier, state); })
      .Default([](Operation *) -> LogicalResult { llvm_unreachable("the callers name the operations above"); });
}

} // namespace tenon::compiler::host
