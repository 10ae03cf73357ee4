// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/scalars/scalar_lowering.h"

#include "compiler/dialect/hal/declarations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tenon::compiler::host {
uint32_t integerBits(Type type) {
  if (isa<IndexType>(type))
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

bool isFloatScalar(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

static bool isScalar(Type type) {
  return integerBits(type) != 0 || isFloatScalar(type);
}

LogicalResult unsupported(Operation *op, const Twine &why) {
  return op->emitOpError() << "is not supported outside a kernel: " << why;
}

std::string locationText(Location location) {
  SourceLocation where = sourceLocationOf(location);
  where.file = llvm::sys::path::filename(where.file).str();
  return where.toString();
}

void ScalarLowering::require(Register condition, const std::string &message, Location location) {
  std::optional<int64_t> known = registers_.constantValue(condition);
  if (known && *known != 0)
    return;
  for (const Check &check : function_.checks)
    if (check.condition == condition)
      return;
  function_.checks.push_back({condition, message, locationText(location)});
}

void ScalarLowering::defineArgument(Value value, uint32_t input) {
  uint32_t bits = integerBits(value.getType());
  if (bits == 0) { // a float, its bits zero-extended
    uint32_t width = value.getType().getIntOrFloatBitWidth();
    define(value, registers_.argument(input, width == 64 ? Range{} : unsignedRange(width)));
  } else if (bits == 1) { // sign-extended like every integer: true may arrive as -1
    define(value, registers_.zeroExtend(registers_.argument(input, {-1, 1}), 1));
  } else {
    define(value, registers_.argument(input, signedRange(bits)));
  }
}

/// `value` as an integer of `bits` bits holds it.
Register ScalarLowering::wrap(Register value, uint32_t bits) {
  return bits == 1 ? registers_.zeroExtend(value, 1) : registers_.signExtend(value, bits);
}

/// The number that a signed operation sees.
Register ScalarLowering::asSigned(Value value) {
  Register reg = lookup(value);
  return integerBits(value.getType()) == 1 ? registers_.binary(Opcode::Sub, registers_.constant(0), reg) : reg;
}

Register ScalarLowering::compare(Operation *op) {
  auto compareOp = cast<arith::CmpIOp>(op);
  uint32_t bits = integerBits(compareOp.getLhs().getType());
  Register a = lookup(compareOp.getLhs()), b = lookup(compareOp.getRhs());
  Register signedA = asSigned(compareOp.getLhs()), signedB = asSigned(compareOp.getRhs());
  switch (compareOp.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return registers_.equal(a, b);
  case arith::CmpIPredicate::ne:
    return registers_.logicalNot(registers_.equal(a, b));
  case arith::CmpIPredicate::slt:
    return registers_.less(signedA, signedB);
  case arith::CmpIPredicate::sgt:
    return registers_.less(signedB, signedA);
  case arith::CmpIPredicate::sle:
    return registers_.logicalNot(registers_.less(signedB, signedA));
  case arith::CmpIPredicate::sge:
    return registers_.logicalNot(registers_.less(signedA, signedB));
  case arith::CmpIPredicate::ult:
    return unsignedLess(a, b, bits);
  case arith::CmpIPredicate::ugt:
    return unsignedLess(b, a, bits);
  case arith::CmpIPredicate::ule:
    return registers_.logicalNot(unsignedLess(b, a, bits));
  case arith::CmpIPredicate::uge:
    return registers_.logicalNot(unsignedLess(a, b, bits));
  }
  return registers_.constant(0);
}

LogicalResult ScalarLowering::finish(Operation *op, Register value) {
  Value result = op->getResult(0);
  uint32_t bits = integerBits(result.getType());
  define(result, bits == 0 ? value : wrap(value, bits));
  return success();
}

LogicalResult ScalarLowering::lowerArith(Operation *op) {
  auto operand = [&](unsigned n) { return lookup(op->getOperand(n)); };
  auto plain = [&](Opcode opcode) { return finish(op, registers_.binary(opcode, operand(0), operand(1))); };
  auto onSigned = [&](Opcode opcode) {
    return finish(op, registers_.binary(opcode, asSigned(op->getOperand(0)), asSigned(op->getOperand(1))));
  };
  auto pick = [&](Register condition, unsigned whenTrue, unsigned whenFalse) {
    return finish(op, registers_.select(condition, operand(whenTrue), operand(whenFalse)));
  };
  // Sizes fail the call where they overflow; numbers wrap. Those of up to 32 bits are cut behind the operation, whose
  // exact result 64 bits hold; of wider ones they may not, so that the operation itself is modulo 2^64.
  auto number = op->getNumOperands() == 0 ? IntegerType() : dyn_cast<IntegerType>(op->getOperand(0).getType());
  const bool wraps = number && number.getWidth() > 32;
  auto sum = [&](Opcode checked, Opcode modulo) { return plain(wraps ? modulo : checked); };
  uint32_t bits = op->getNumOperands() == 0 ? 0 : integerBits(op->getOperand(0).getType());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::AddIOp>([&](auto) { return sum(Opcode::Add, Opcode::AddWrap); })
      .Case<arith::SubIOp>([&](auto) { return sum(Opcode::Sub, Opcode::SubWrap); })
      .Case<arith::MulIOp>([&](auto) { return sum(Opcode::Mul, Opcode::MulWrap); })
      .Case<arith::AndIOp>([&](auto) { return plain(Opcode::And); })
      .Case<arith::OrIOp>([&](auto) { return plain(Opcode::Or); })
      .Case<arith::XOrIOp>([&](auto) { return plain(Opcode::Xor); })
      .Case<arith::DivSIOp>([&](auto) { return onSigned(Opcode::DivTrunc); })
      .Case<arith::RemSIOp>([&](auto) { return onSigned(Opcode::RemTrunc); })
      .Case<arith::CeilDivSIOp>([&](auto) { return onSigned(Opcode::CeilDiv); })
      .Case<arith::FloorDivSIOp>([&](auto) { return onSigned(Opcode::FloorDiv); })
      .Case<arith::MinSIOp>([&](auto) { return onSigned(Opcode::Min); })
      .Case<arith::MaxSIOp>([&](auto) { return onSigned(Opcode::Max); })
      .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>([&](Operation *) { return lowerUnsignedDivision(op); })
      .Case<arith::MinUIOp>([&](auto) { return pick(unsignedLess(operand(0), operand(1), bits), 0, 1); })
      .Case<arith::MaxUIOp>([&](auto) { return pick(unsignedLess(operand(0), operand(1), bits), 1, 0); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>([&](Operation *) { return lowerShift(op, bits); })
      .Case<math::CtPopOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp>(
          [&](Operation *) { return lowerBitCount(op, bits); })
      .Case<arith::CmpIOp>([&](auto) { return finish(op, compare(op)); })
      .Case<arith::SelectOp>([&](auto) { return pick(operand(0), 1, 2); })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto) { return finish(op, asSigned(op->getOperand(0))); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return finish(op, registers_.zeroExtend(operand(0), bits)); })
      .Case<math::AbsIOp>([&](auto) {
        const Register value = asSigned(op->getOperand(0)), zero = registers_.constant(0);
        return finish(op, registers_.binary(Opcode::Max, value, registers_.binary(Opcode::SubWrap, zero, value)));
      })
      .Case<arith::TruncIOp>([&](auto) { return finish(op, operand(0)); })
      .Case<arith::BitcastOp>([&](auto) {
        Type result = op->getResult(0).getType();
        return finish(op, isFloatScalar(result) ? registers_.zeroExtend(operand(0), result.getIntOrFloatBitWidth())
                                                : operand(0));
      })
      .Default([&](Operation *) { return unsupported(op, "scalar code is arithmetic on integers and floats"); });
}

Register ScalarLowering::affineExpression(AffineExpr expression, AffineMap map, ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return registers_.constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return lookup(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return lookup(operands[map.getNumDims() + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Register a = affineExpression(binary.getLHS(), map, operands);
  Register b = affineExpression(binary.getRHS(), map, operands);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return registers_.add(a, b);
  case AffineExprKind::Mul:
    return registers_.mul(a, b);
  case AffineExprKind::Mod:
    return registers_.binary(Opcode::Mod, a, b);
  case AffineExprKind::FloorDiv:
    return registers_.binary(Opcode::FloorDiv, a, b);
  case AffineExprKind::CeilDiv:
    return registers_.binary(Opcode::CeilDiv, a, b);
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    break;
  }
  return registers_.constant(0); // not reached: the leaves are handled above
}

LogicalResult ScalarLowering::lowerAffine(Operation *op) {
  auto reduce = [&](AffineMap map, Opcode opcode) {
    Register value = affineExpression(map.getResult(0), map, op->getOperands());
    for (AffineExpr expression : map.getResults().drop_front())
      value = registers_.binary(opcode, value, affineExpression(expression, map, op->getOperands()));
    return finish(op, value);
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<affine::AffineApplyOp>([&](auto apply) { return reduce(apply.getAffineMap(), Opcode::Add); })
      .Case<affine::AffineMinOp>([&](auto min) { return reduce(min.getAffineMap(), Opcode::Min); })
      .Case<affine::AffineMaxOp>([&](auto max) { return reduce(max.getAffineMap(), Opcode::Max); })
      .Default([&](Operation *) { return unsupported(op, "only affine.apply, affine.min and affine.max are"); });
}

LogicalResult ScalarLowering::checkTypes(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (!isScalar(type))
      return op->emitOpError() << "is not supported outside a kernel: an operand has type " << type;
  for (Type type : op->getResultTypes())
    if (!isScalar(type))
      return op->emitOpError() << "is not supported outside a kernel: a result has type " << type;
  return success();
}

LogicalResult ScalarLowering::lowerConstant(Operation *op, Attribute value) {
  if (failed(checkTypes(op)))
    return failure();
  if (auto real = dyn_cast<FloatAttr>(value))
    return finish(op, registers_.constant(int64_t(real.getValue().bitcastToAPInt().getZExtValue())));
  return finish(op, registers_.constant(cast<IntegerAttr>(value).getValue().getSExtValue()));
}

LogicalResult ScalarLowering::lower(Operation *op) {
  if (failed(checkTypes(op)))
    return failure();
  for (Value operand : op->getOperands())
    if (!isDefined(operand))
      return unsupported(op, "an operand has no value before the kernels run");
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lowerConstant(op, constant.getValue());
  if (isa_and_nonnull<affine::AffineDialect>(op->getDialect()))
    return lowerAffine(op);
  auto isReal = [](Type type) { return isFloatScalar(type); };
  const bool movesBits = isa<arith::BitcastOp, arith::SelectOp>(op);
  if (!movesBits && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      (llvm::any_of(op->getOperandTypes(), isReal) || llvm::any_of(op->getResultTypes(), isReal)))
    return lowerReal(op);
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return lowerArith(op);
  return unsupported(op, "scalar code is arithmetic on integers and floats");
}

} // namespace tenon::compiler::host
