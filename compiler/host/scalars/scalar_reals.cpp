// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on float scalars. f16 and bf16 are computed in f32 and rounded after each operation.
#include "compiler/host/scalars/scalar_lowering.h"

#include "compiler/dialect/hal/declarations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {

/// Bits of the type that floats of `type` are computed in.
static uint32_t workingBits(Type type) {
  return type.isF64() ? 64 : 32;
}

static abi::fb::ElementType realElement(Type type) {
  return abi::fb::ElementType(*elementTypeOf(type));
}

/// The bits as the type that is computed in has them.
Register ScalarLowering::asReal(Value value) {
  Type type = value.getType();
  if (type.isF32() || type.isF64())
    return lookup(value);
  return registers_.convertReal(realElement(type), abi::fb::ElementType::F32, lookup(value));
}

/// From the type that was computed in to that of the result.
LogicalResult ScalarLowering::finishReal(Operation *op, Register value) {
  Type type = op->getResult(0).getType();
  if (!type.isF32() && !type.isF64())
    value = registers_.convertReal(abi::fb::ElementType::F32, realElement(type), value);
  define(op->getResult(0), value);
  return success();
}

/// An integer as a float of `bits` bits.
Register ScalarLowering::integerToReal(Register value, uint32_t bits) {
  return registers_.real(Opcode::FFromInt, bits, value);
}

/// An integer that f64 holds, and that fewer bits round to what they round `value` to: of one that has more than the 53
/// of f64, the last 11 are cut off, and the one before is set if any of them was.
Register ScalarLowering::exactInDouble(Register value) {
  const int64_t limit = int64_t(1) << 53, cut = (1 << 11) - 1;
  const Range range = registers_.range(value);
  if (range.low >= -limit && range.high <= limit)
    return value;
  const Register rest = registers_.binary(Opcode::And, value, registers_.constant(cut));
  const Register last = registers_.select(rest, registers_.constant(cut + 1), registers_.constant(0));
  const Register shorter =
      registers_.binary(Opcode::Or, registers_.binary(Opcode::And, value, registers_.constant(~cut)), last);
  const Register isLong = registers_.binary(Opcode::Or, registers_.less(value, registers_.constant(-limit)),
                                            registers_.less(registers_.constant(limit), value));
  return registers_.select(isLong, shorter, value);
}

Register ScalarLowering::compareReals(Operation *op) {
  auto compareOp = cast<arith::CmpFOp>(op);
  const uint32_t bits = workingBits(compareOp.getLhs().getType());
  Register a = asReal(compareOp.getLhs()), b = asReal(compareOp.getRhs());
  auto equal = [&] { return registers_.real(Opcode::FEq, bits, a, b); };
  auto less = [&](Register x, Register y) { return registers_.real(Opcode::FLt, bits, x, y); };
  auto lessOrEqual = [&](Register x, Register y) { return registers_.real(Opcode::FLe, bits, x, y); };
  auto isNot = [&](Register x) { return registers_.logicalNot(x); };
  auto different = [&] { return registers_.binary(Opcode::Or, less(a, b), less(b, a)); };
  auto ordered = [&] {
    return registers_.binary(Opcode::And, registers_.real(Opcode::FEq, bits, a, a),
                             registers_.real(Opcode::FEq, bits, b, b));
  };
  switch (compareOp.getPredicate()) {
  case arith::CmpFPredicate::AlwaysFalse:
    return registers_.constant(0);
  case arith::CmpFPredicate::AlwaysTrue:
    return registers_.constant(1);
  case arith::CmpFPredicate::OEQ:
    return equal();
  case arith::CmpFPredicate::OGT:
    return less(b, a);
  case arith::CmpFPredicate::OGE:
    return lessOrEqual(b, a);
  case arith::CmpFPredicate::OLT:
    return less(a, b);
  case arith::CmpFPredicate::OLE:
    return lessOrEqual(a, b);
  case arith::CmpFPredicate::ONE:
    return different();
  case arith::CmpFPredicate::ORD:
    return ordered();
  case arith::CmpFPredicate::UEQ:
    return isNot(different());
  case arith::CmpFPredicate::UGT:
    return isNot(lessOrEqual(a, b));
  case arith::CmpFPredicate::UGE:
    return isNot(less(a, b));
  case arith::CmpFPredicate::ULT:
    return isNot(lessOrEqual(b, a));
  case arith::CmpFPredicate::ULE:
    return isNot(less(b, a));
  case arith::CmpFPredicate::UNE:
    return isNot(equal());
  case arith::CmpFPredicate::UNO:
    return isNot(ordered());
  }
  return registers_.constant(0);
}

/// What has a float among its operands or results, and computes with it.
LogicalResult ScalarLowering::lowerReal(Operation *op) {
  Value first = op->getOperand(0);
  Type from = first.getType(), to = op->getResult(0).getType();
  const uint32_t bits = workingBits(from);
  auto binary = [&](Opcode opcode) {
    return finishReal(op, registers_.real(opcode, bits, asReal(first), asReal(op->getOperand(1))));
  };
  auto unary = [&](Opcode opcode) { return finishReal(op, registers_.real(opcode, bits, asReal(first))); };
  auto signBit = [&](uint32_t width) {
    return registers_.constant(width == 64 ? std::numeric_limits<int64_t>::min() : int64_t(1) << (width - 1));
  };
  // Bits of the type itself: no arithmetic, so a NaN keeps its own.
  auto withoutSign = [&](Value value) {
    const uint32_t width = value.getType().getIntOrFloatBitWidth();
    const int64_t rest = width == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (width - 1)) - 1;
    return registers_.binary(Opcode::And, lookup(value), registers_.constant(rest));
  };
  auto moved = [&](Register value) {
    define(op->getResult(0), value);
    return success();
  };
  auto fromInteger = [&](Register (ScalarLowering::*convert)(Register, uint32_t), Register value) {
    if (!to.isBF16())
      return finishReal(op, (this->*convert)(value, workingBits(to)));
    return moved(registers_.convertReal(abi::fb::ElementType::F64, abi::fb::ElementType::BF16,
                                        (this->*convert)(exactInDouble(value), 64)));
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::AddFOp>([&](auto) { return binary(Opcode::FAdd); })
      .Case<arith::SubFOp>([&](auto) { return binary(Opcode::FSub); })
      .Case<arith::MulFOp>([&](auto) { return binary(Opcode::FMul); })
      .Case<arith::DivFOp>([&](auto) { return binary(Opcode::FDiv); })
      .Case<arith::RemFOp>([&](auto) { return binary(Opcode::FRem); })
      .Case<arith::MinimumFOp>([&](auto) { return binary(Opcode::FMin); })
      .Case<arith::MaximumFOp>([&](auto) { return binary(Opcode::FMax); })
      .Case<arith::MinNumFOp>([&](auto) { return binary(Opcode::FMinNum); })
      .Case<arith::MaxNumFOp>([&](auto) { return binary(Opcode::FMaxNum); })
      .Case<math::SqrtOp>([&](auto) { return unary(Opcode::FSqrt); })
      .Case<math::FloorOp>([&](auto) { return unary(Opcode::FFloor); })
      .Case<math::CeilOp>([&](auto) { return unary(Opcode::FCeil); })
      .Case<math::TruncOp>([&](auto) { return unary(Opcode::FTrunc); })
      .Case<math::RoundOp>([&](auto) { return unary(Opcode::FRound); })
      .Case<math::RoundEvenOp>([&](auto) { return unary(Opcode::FRoundEven); })
      .Case<arith::NegFOp>([&](auto) {
        return moved(registers_.binary(Opcode::Xor, lookup(first), signBit(from.getIntOrFloatBitWidth())));
      })
      .Case<math::AbsFOp>([&](auto) { return moved(withoutSign(first)); })
      .Case<math::CopySignOp>([&](auto) {
        const Register signOf =
            registers_.binary(Opcode::And, lookup(op->getOperand(1)), signBit(from.getIntOrFloatBitWidth()));
        return moved(registers_.binary(Opcode::Or, withoutSign(first), signOf));
      })
      .Case<arith::CmpFOp>([&](auto) { return finish(op, compareReals(op)); })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return moved(registers_.convertReal(realElement(from), realElement(to), lookup(first))); })
      .Case<arith::SIToFPOp>([&](auto) { return fromInteger(&ScalarLowering::integerToReal, asSigned(first)); })
      .Case<arith::UIToFPOp>([&](auto) {
        return from.isInteger(64) ? fromInteger(&ScalarLowering::unsignedToReal, lookup(first))
                                  : fromInteger(&ScalarLowering::integerToReal, asUnsigned(first, op));
      })
      .Case<arith::FPToUIOp>([&](auto) {
        return finish(op, to.isInteger(64) ? realToUnsigned(asReal(first), bits)
                                           : registers_.real(Opcode::FToInt, bits, asReal(first)));
      })
      .Case<arith::FPToSIOp>([&](auto) { return finish(op, registers_.real(Opcode::FToInt, bits, asReal(first))); })
      .Default([&](Operation *) {
        return unsupported(op, "of floats the host computes what is rounded the same on every machine");
      });
}

} // namespace tenon::compiler::host
