// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/function_lowering.h"

#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/host/dispatch_lowering.h"
#include "compiler/host/expectation_lowering.h"
#include "compiler/host/function_state.h"
#include "compiler/host/program/arena_layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

class FunctionLowering {
public:
  FunctionLowering(func::FuncOp op, const ExecutableTable &executables, ConstantPool &constants)
      : op_(op), executables_(executables), constants_(constants), state_(op) {}

  FailureOr<Function> run();

private:
  void lowerSignature();
  LogicalResult lowerOperation(Operation *op);
  LogicalResult lowerConstant(Operation *op, ElementsAttr value);
  LogicalResult lowerEmpty(tensor::EmptyOp op);
  LogicalResult lowerDim(tensor::DimOp op);
  LogicalResult lowerCast(tensor::CastOp op);
  LogicalResult lowerReshape(Operation *op, Value source, Value result, Shape shape,
                             ArrayRef<ReassociationIndices> groups);
  LogicalResult lowerExpand(tensor::ExpandShapeOp op);
  LogicalResult lowerCollapse(tensor::CollapseShapeOp op);
  LogicalResult lowerTieShape(flow::TensorTieShapeOp op);
  template <typename Op> LogicalResult lowerReinterpret(Op op);
  LogicalResult requireShape(Operation *op, const Shape &found, Type type, ValueRange dims, StringRef where);
  LogicalResult lowerBarrier(util::OptimizationBarrierOp op);
  LogicalResult lowerReturn(func::ReturnOp op);

  func::FuncOp op_;
  const ExecutableTable &executables_;
  ConstantPool &constants_;
  FunctionState state_;
};

// --- Operations that move no bytes ----------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerConstant(Operation *op, ElementsAttr value) {
  FailureOr<uint32_t> index = constants_.intern(value, op->getLoc());
  if (failed(index))
    return failure();
  FailureOr<Shape> shape = state_.shapeFrom(op, value.getType(), {});
  if (failed(shape))
    return failure();
  state_.tensors[op->getResult(0)] = {state_.buffers.addConstant(*index), *shape};
  return success();
}

LogicalResult FunctionLowering::lowerEmpty(tensor::EmptyOp op) {
  FailureOr<Shape> shape = state_.shapeFrom(op, op.getType(), op.getDynamicSizes());
  if (failed(shape) || failed(state_.checkElementType(op, op.getResult())))
    return failure();
  state_.requireNonNegative(op, *shape, "tensor.empty");
  BufferIndex buffer =
      state_.buffers.addTransient(state_.bytesOf(op.getType(), *shape), state_.lastUse(op.getResult()));
  state_.tensors[op.getResult()] = {buffer, *shape, true};
  return success();
}

LogicalResult FunctionLowering::lowerDim(tensor::DimOp op) {
  std::optional<int64_t> index = state_.function.registers.constantValue(state_.scalars.lookup(op.getIndex()));
  if (!index)
    return op.emitOpError() << "is not supported outside a kernel: which dimension it asks for is not a constant";
  const Shape &shape = state_.tensors[op.getSource()].shape;
  if (*index < 0 || *index >= int64_t(shape.size()))
    return op.emitOpError() << "asks for dimension " << *index << " of a tensor of rank " << shape.size();
  state_.scalars.define(op.getResult(), shape[size_t(*index)]);
  return success();
}

LogicalResult FunctionLowering::lowerCast(tensor::CastOp op) {
  TensorValue value = state_.tensors[op.getSource()];
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return op.emitOpError() << "is not supported: its result has no rank";
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size))
      continue;
    Register wanted = state_.function.registers.constant(size);
    std::string name = "dimension " + std::to_string(dim) + " of the operand";
    if (failed(state_.requireEqual(op, value.shape[dim], wanted, name, "that of the result")))
      return failure();
    value.shape[dim] = wanted;
  }
  state_.tensors[op.getResult()] = value;
  return success();
}

/// A reshape keeps the bytes. `groups` maps each dimension of the lower rank to its dimensions of the higher rank,
/// whose product it must be.
LogicalResult FunctionLowering::lowerReshape(Operation *op, Value source, Value result, Shape shape,
                                             ArrayRef<ReassociationIndices> groups) {
  RegisterProgram &registers = state_.function.registers;
  const TensorValue &value = state_.tensors[source];
  bool expands = shape.size() > value.shape.size();
  const Shape &wide = expands ? shape : value.shape, &narrow = expands ? value.shape : shape;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, wide[size_t(member)]);
    std::string name = "dimension " + std::to_string(dim) + " of the " + (expands ? "operand" : "result");
    std::string productName = "the product of its dimensions in " + op->getName().getStringRef().str();
    if (failed(state_.requireEqual(op, narrow[dim], product, name, productName)))
      return failure();
  }
  state_.tensors[result] = {value.buffer, std::move(shape), value.undefined};
  return success();
}

LogicalResult FunctionLowering::lowerExpand(tensor::ExpandShapeOp op) {
  FailureOr<Shape> shape = state_.shapeFrom(op, op.getResultType(), op.getOutputShape());
  if (failed(shape))
    return failure();
  state_.requireNonNegative(op, *shape, "the result of tensor.expand_shape");
  return lowerReshape(op, op.getSrc(), op.getResult(), *shape, op.getReassociationIndices());
}

LogicalResult FunctionLowering::lowerCollapse(tensor::CollapseShapeOp op) {
  RegisterProgram &registers = state_.function.registers;
  const TensorValue &value = state_.tensors[op.getSrc()];
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  Shape shape;
  for (auto [group, size] : llvm::zip_equal(groups, op.getResultType().getShape())) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, value.shape[size_t(member)]);
    shape.push_back(ShapedType::isDynamic(size) ? product : registers.constant(size));
  }
  return lowerReshape(op, op.getSrc(), op.getResult(), shape, groups);
}

/// The dimensions that the program states for a tensor are those that it has.
LogicalResult FunctionLowering::requireShape(Operation *op, const Shape &found, Type type, ValueRange dims,
                                             StringRef where) {
  FailureOr<Shape> stated = state_.shapeFrom(op, type, dims);
  if (failed(stated))
    return failure();
  for (auto [dim, size] : llvm::enumerate(*stated))
    if (failed(state_.requireEqual(op, found[dim], size, "dimension " + std::to_string(dim) + " of the operand",
                                   "the one that " + where.str() + " states")))
      return failure();
  return success();
}

LogicalResult FunctionLowering::lowerTieShape(flow::TensorTieShapeOp op) {
  const TensorValue value = state_.tensors[op.getSource()];
  if (failed(requireShape(op, value.shape, op.getType(), op.getDynamicDims(), "flow.tensor.tie_shape")))
    return failure();
  state_.tensors[op.getResult()] = value;
  return success();
}

/// The same bytes as another type or shape.
template <typename Op> LogicalResult FunctionLowering::lowerReinterpret(Op op) {
  const TensorValue value = state_.tensors[op.getSource()];
  const std::string name = op->getName().getStringRef().str();
  FailureOr<Shape> shape = state_.shapeFrom(op, op.getType(), op.getResultDims());
  if (failed(shape) || failed(state_.checkElementType(op, op.getResult())) ||
      failed(requireShape(op, value.shape, op.getSource().getType(), op.getSourceDims(), name)))
    return failure();
  state_.requireNonNegative(op, *shape, "the result of " + name);
  Register found = state_.bytesOf(op.getSource().getType(), value.shape), wanted = state_.bytesOf(op.getType(), *shape);
  if (failed(
          state_.requireEqual(op, found, wanted, "the size in bytes of the operand of " + name, "that of its result")))
    return failure();
  state_.tensors[op.getResult()] = {value.buffer, *shape, value.undefined};
  return success();
}

LogicalResult FunctionLowering::lowerBarrier(util::OptimizationBarrierOp op) {
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    if (isTensor(operand))
      state_.tensors[result] = TensorValue(state_.tensors[operand]);
    else
      state_.scalars.define(result, state_.scalars.lookup(operand));
  }
  return success();
}

// --- The function ---------------------------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerReturn(func::ReturnOp op) {
  for (Value value : op.getOperands()) {
    state_.function.results.push_back(state_.outputOf(value));
  }
  return success();
}

LogicalResult FunctionLowering::lowerOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<flow::DispatchOp>([&](auto dispatch) { return lowerDispatch(dispatch, executables_, state_); })
      .Case<tensor::DimOp>([&](auto dim) { return lowerDim(dim); })
      .Case<tensor::EmptyOp>([&](auto empty) { return lowerEmpty(empty); })
      .Case<tensor::CastOp>([&](auto cast) { return lowerCast(cast); })
      .Case<tensor::ExpandShapeOp>([&](auto expand) { return lowerExpand(expand); })
      .Case<tensor::CollapseShapeOp>([&](auto collapse) { return lowerCollapse(collapse); })
      .Case<flow::TensorTieShapeOp>([&](auto tie) { return lowerTieShape(tie); })
      .Case<flow::TensorBitCastOp, flow::TensorReshapeOp>([&](auto cast) { return lowerReinterpret(cast); })
      .Case<util::OptimizationBarrierOp>([&](auto barrier) { return lowerBarrier(barrier); })
      .Case<check::ExpectTrueOp, check::ExpectFalseOp, check::ExpectAllTrueOp, check::ExpectEqOp,
            check::ExpectEqConstOp, check::ExpectAlmostEqOp, check::ExpectAlmostEqConstOp>(
          [&](auto expectation) { return lowerExpectation(expectation, constants_, state_); })
      .Case<func::ReturnOp>([&](auto returned) { return lowerReturn(returned); })
      .Case<arith::ConstantOp, util::UnfoldableConstantOp>([&](auto constant) {
        if (isTensor(constant.getResult()))
          return lowerConstant(constant, cast<ElementsAttr>(constant.getValue()));
        return state_.scalars.lowerConstant(constant, constant.getValue());
      })
      .Default([&](Operation *other) {
        if (llvm::any_of(other->getOperands(), isTensor) || llvm::any_of(other->getResults(), isTensor) ||
            other->getNumResults() == 0)
          return LogicalResult(other->emitOpError() << "is not supported: no kernel was formed for it, and it is not "
                                                       "an operation that the host runs");
        return state_.scalars.lower(other);
      });
}

void FunctionLowering::lowerSignature() {
  for (BlockArgument argument : op_.getArguments()) {
    uint32_t index = argument.getArgNumber();
    ValueType type = *toValueType(argument.getType());
    if (type.isTensor) {
      TensorValue value{state_.buffers.addInput(index), {}};
      for (auto [dim, size] : llvm::enumerate(type.shape))
        value.shape.push_back(size < 0 ? state_.function.registers.dim(index, uint32_t(dim))
                                       : state_.function.registers.constant(size));
      state_.tensors[argument] = std::move(value);
    } else {
      state_.scalars.defineArgument(argument, index);
    }
    state_.function.inputs.push_back(std::move(type));
  }
}

FailureOr<Function> FunctionLowering::run() {
  state_.function.name = op_.getSymName().str();
  if (failed(verifySignature(op_)))
    return failure();
  lowerSignature();
  if (!op_.getBody().hasOneBlock())
    return op_.getBody().front().getTerminator()->emitOpError()
           << "is not supported: '@" << op_.getSymName() << "' has control flow";
  state_.findLive();
  for (Operation &op : op_.getBody().front())
    if (state_.positions.contains(&op) && failed(lowerOperation(&op)))
      return failure();
  state_.function.buffers = state_.buffers.all();
  layOutArena(state_.function);
  state_.function.dropUnused();
  return std::move(state_.function);
}

} // namespace

LogicalResult verifySignature(func::FuncOp function) {
  bool ok = true;
  for (BlockArgument argument : function.getArguments()) {
    if (toValueType(argument.getType()))
      continue;
    emitError(argument.getLoc()) << "argument " << argument.getArgNumber() << " of '@" << function.getSymName()
                                 << "' has type " << argument.getType() << ", which a program cannot take";
    ok = false;
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    if (toValueType(type))
      continue;
    function.emitError() << "result " << index << " of '@" << function.getSymName() << "' has type " << type
                         << ", which a program cannot return";
    ok = false;
  }
  return success(ok);
}

FailureOr<Function> lowerFunction(func::FuncOp function, const ExecutableTable &executables, ConstantPool &constants) {
  return FunctionLowering(function, executables, constants).run();
}

} // namespace tenon::compiler::host
