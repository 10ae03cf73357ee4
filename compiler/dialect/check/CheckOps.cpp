// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text and rules of check.expect_*: an expectation that could never hold, or that compares the wrong way, is refused.
#include "compiler/dialect/check/CheckOps.h"

#include "compiler/dialect/shared/assembly.h"
#include "compiler/dialect/shared/inliner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

// `, atol 1.0e-2, rtol 1.0e-3`: either, in any order; a default is not printed. Text of 2025 and before has `, 1.0e-2`,
// which is atol.
static ParseResult parseTolerances(OpAsmParser &parser, FloatAttr &atol, FloatAttr &rtol) {
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word = "atol";
    double value;
    Attribute plain;
    const SMLoc where = parser.getCurrentLocation();
    if (OptionalParseResult found = parser.parseOptionalAttribute(plain, parser.getBuilder().getF32Type());
        found.has_value()) {
      atol = succeeded(*found) ? dyn_cast<FloatAttr>(plain) : FloatAttr();
      if (!atol)
        return succeeded(*found) ? parser.emitError(where, "expected a number, 'atol' or 'rtol'")
                                 : ParseResult(failure());
      continue;
    }
    if (tenon::compiler::parseKeywordOf(parser, word, {"atol", "rtol"}))
      return failure();
    if (parser.parseFloat(value))
      return failure();
    (word == "atol" ? atol : rtol) = parser.getBuilder().getF32FloatAttr(float(value));
  }
  if (!atol)
    atol = parser.getBuilder().getF32FloatAttr(1e-4f);
  if (!rtol)
    rtol = parser.getBuilder().getF32FloatAttr(0.0f);
  return success();
}

static void printTolerances(OpAsmPrinter &printer, Operation *, FloatAttr atol, FloatAttr rtol) {
  auto print = [&](StringRef word, FloatAttr value, float defaultValue) {
    if (!value || value.getValue().convertToFloat() == defaultValue)
      return;
    printer << ", " << word << ' ';
    printer.printAttributeWithoutType(value);
  };
  print("atol", atol, 1e-4f);
  print("rtol", rtol, 0.0f);
}

#include "compiler/dialect/check/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/check/CheckOps.cpp.inc"

namespace tenon::compiler::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/check/CheckOps.cpp.inc"
      >();
  addInterfaces<AlwaysInline>();
}

// A constant's shape must fit the tensor's: equal where the tensor's dimension is known.
static LogicalResult verifyConstant(Operation *op, Type tensor, ElementsAttr value) {
  Type constant = value.getType();
  if (getElementTypeOrSelf(tensor) != getElementTypeOrSelf(constant) || failed(verifyCompatibleShape(tensor, constant)))
    return op->emitOpError() << "the constant is " << constant << ", the tensor is " << tensor
                             << ": write the constant with the tensor's shape and element type";
  return success();
}

static LogicalResult verifyFloat(Operation *op, Type tensor, FloatAttr atol, FloatAttr rtol) {
  if (!isa<FloatType>(getElementTypeOrSelf(tensor)))
    return op->emitOpError() << "found " << tensor << ", near equality wants a floating-point element type: use '"
                             << (isa<ExpectAlmostEqOp>(op) ? "check.expect_eq" : "check.expect_eq_const") << "'";
  for (auto [name, value] : {std::pair("atol", atol), std::pair("rtol", rtol)})
    if (value.getValue().isNegative() || !value.getValue().isFinite())
      return op->emitOpError() << "found " << name << " = " << value.getValueAsDouble()
                               << ", a finite number >= 0 is wanted";
  return success();
}

static LogicalResult verifyScalar(Operation *op) {
  Type type = op->getOperand(0).getType();
  if (!type.isIntOrIndex())
    return op->emitOpError() << "found " << type << ", an integer is wanted: for a tensor use 'check.expect_all_true'";
  return success();
}

LogicalResult ExpectTrueOp::verify() {
  return verifyScalar(*this);
}

LogicalResult ExpectFalseOp::verify() {
  return verifyScalar(*this);
}

LogicalResult ExpectAllTrueOp::verify() {
  auto tensor = dyn_cast<TensorType>(getOperand().getType());
  if (!tensor || !tensor.getElementType().isIntOrIndexOrFloat())
    return emitOpError() << "found " << getOperand().getType() << ", a tensor of numbers is wanted";
  return success();
}

LogicalResult ExpectEqOp::verify() {
  return success();
}

LogicalResult ExpectEqConstOp::verify() {
  return verifyConstant(*this, getLhs().getType(), getValue());
}

LogicalResult ExpectAlmostEqOp::verify() {
  return verifyFloat(*this, getLhs().getType(), getAtolAttr(), getRtolAttr());
}

LogicalResult ExpectAlmostEqConstOp::verify() {
  if (failed(verifyFloat(*this, getLhs().getType(), getAtolAttr(), getRtolAttr())))
    return failure();
  return verifyConstant(*this, getLhs().getType(), getValue());
}

} // namespace tenon::compiler::check
