// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/expectation_lowering.h"

#include "compiler/dialect/check/CheckOps.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tenon::compiler::host {
namespace {

using mlir::LogicalResult;

ExpectationKind kindOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, ExpectationKind>(op)
      .Case<check::ExpectFalseOp>([](auto) { return ExpectationKind::Zero; })
      .Case<check::ExpectEqOp, check::ExpectEqConstOp>([](auto) { return ExpectationKind::Equal; })
      .Case<check::ExpectAlmostEqOp, check::ExpectAlmostEqConstOp>([](auto) { return ExpectationKind::AlmostEqual; })
      .Default([](auto) { return ExpectationKind::NonZero; });
}

/// The attribute's elements as a constant of the program.
mlir::FailureOr<ResultValue> constantOutput(mlir::Operation *op, mlir::ElementsAttr value, ConstantPool &constants,
                                            FunctionState &state) {
  mlir::FailureOr<uint32_t> index = constants.intern(value, op->getLoc());
  if (mlir::failed(index))
    return mlir::failure();
  mlir::FailureOr<Shape> shape = state.shapeFrom(op, value.getType(), {});
  std::optional<ValueType> type = toValueType(value.getType());
  if (mlir::failed(shape) || !type)
    return mlir::failure();
  return ResultValue{*type, state.plan.addConstant(*index), {shape->begin(), shape->end()}};
}

} // namespace

LogicalResult lowerExpectation(mlir::Operation *op, ConstantPool &constants, FunctionState &state) {
  for (mlir::Value operand : op->getOperands())
    if (!toValueType(operand.getType()))
      return op->emitOpError() << "compares a value of type " << operand.getType() << ", which a program cannot hold";
  Expectation expectation{.kind = kindOf(op),
                          .operation = op->getName().getStringRef().str(),
                          .found = state.outputOf(op->getOperand(0)),
                          .wanted = {},
                          .location = locationText(op->getLoc())};
  if (op->getNumOperands() == 2)
    expectation.wanted = state.outputOf(op->getOperand(1));
  if (auto value = op->getAttrOfType<mlir::ElementsAttr>("value")) {
    mlir::FailureOr<ResultValue> wanted = constantOutput(op, value, constants, state);
    if (mlir::failed(wanted))
      return mlir::failure();
    expectation.wanted = std::move(*wanted);
  }
  auto tolerance = [&](llvm::StringRef name) {
    auto value = op->getAttrOfType<mlir::FloatAttr>(name);
    return value ? value.getValueAsDouble() : 0.0;
  };
  expectation.absoluteTolerance = tolerance("atol");
  expectation.relativeTolerance = tolerance("rtol");
  state.function.expectations.push_back(std::move(expectation));
  return mlir::success();
}

} // namespace tenon::compiler::host
