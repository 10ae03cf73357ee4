// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/expectation_lowering.h"

#include "compiler/dialect/check/CheckOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

ExpectationKind kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, ExpectationKind>(op)
      .Case<check::ExpectFalseOp>([](auto) { return ExpectationKind::Zero; })
      .Case<check::ExpectEqOp, check::ExpectEqConstOp>([](auto) { return ExpectationKind::Equal; })
      .Case<check::ExpectAlmostEqOp, check::ExpectAlmostEqConstOp>([](auto) { return ExpectationKind::AlmostEqual; })
      .Default([](auto) { return ExpectationKind::NonZero; });
}

/// The attribute's elements as a constant of the program.
FailureOr<ResultValue> constantOutput(Operation *op, ElementsAttr value, ConstantPool &constants,
                                      FunctionState &state) {
  FailureOr<uint32_t> index = constants.intern(value, op->getLoc());
  if (failed(index))
    return failure();
  std::optional<ValueType> type = toValueType(value.getType());
  if (!type)
    return op->emitOpError() << "compares with a constant of type " << value.getType()
                             << ", which a program cannot hold";
  FailureOr<Shape> shape = state.shapeFrom(op, value.getType(), {});
  if (failed(shape))
    return failure();
  return ResultValue{*type, state.buffers.addConstant(*index), {shape->begin(), shape->end()}};
}

} // namespace

LogicalResult lowerExpectation(Operation *op, ConstantPool &constants, FunctionState &state) {
  for (Value operand : op->getOperands())
    if (!toValueType(operand.getType()))
      return op->emitOpError() << "compares a value of type " << operand.getType() << ", which a program cannot hold";
  Expectation expectation{.kind = kindOf(op),
                          .operation = op->getName().getStringRef().str(),
                          .found = state.outputOf(op->getOperand(0)),
                          .wanted = {},
                          .location = locationText(op->getLoc())};
  if (op->getNumOperands() == 2)
    expectation.wanted = state.outputOf(op->getOperand(1));
  if (auto value = op->getAttrOfType<ElementsAttr>("value")) {
    FailureOr<ResultValue> wanted = constantOutput(op, value, constants, state);
    if (failed(wanted))
      return failure();
    expectation.wanted = std::move(*wanted);
  }
  auto tolerance = [&](StringRef name) {
    auto value = op->getAttrOfType<FloatAttr>(name);
    return value ? value.getValueAsDouble() : 0.0;
  };
  expectation.absoluteTolerance = tolerance("atol");
  expectation.relativeTolerance = tolerance("rtol");
  state.function.expectations.push_back(std::move(expectation));
  return success();
}

} // namespace tenon::compiler::host
