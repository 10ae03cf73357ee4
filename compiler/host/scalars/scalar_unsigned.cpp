// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsigned scalars. A register holds a signed number: an unsigned one of fewer than 64 bits is zero-extended first and
// fits. One of 64 bits does not where its top bit is set, so comparisons flip that bit, divisions halve the dividend,
// and conversions to floats halve the number.
#include "compiler/host/scalars/scalar_lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::host {

constexpr int64_t kTopBit = std::numeric_limits<int64_t>::min();

/// The number that an unsigned operation sees, of a type that registers hold: a size is checked not to be negative.
Register ScalarLowering::asUnsigned(Value value, Operation *user) {
  Register reg = lookup(value);
  uint32_t bits = integerBits(value.getType());
  if (bits < 64)
    return registers_.zeroExtend(reg, bits);
  if (!registers_.isNonNegative(reg))
    require(registers_.less(registers_.constant(-1), reg),
            "an operand of the unsigned operation '" + user->getName().getStringRef().str() + "' is negative",
            user->getLoc());
  return reg;
}

/// a < b for registers as wrap() leaves them, read as unsigned: exact for every width.
Register ScalarLowering::unsignedLess(Register a, Register b, uint32_t bits) {
  if (bits < 64)
    return registers_.less(registers_.zeroExtend(a, bits), registers_.zeroExtend(b, bits));
  if (registers_.isNonNegative(a) && registers_.isNonNegative(b))
    return registers_.less(a, b);
  // Flipping the top bit maps unsigned order to signed order.
  Register top = registers_.constant(kTopBit);
  return registers_.less(registers_.binary(Opcode::Xor, a, top), registers_.binary(Opcode::Xor, b, top));
}

/// The quotient of two unsigned numbers of 64 bits. Half of the dividend is a signed number: twice its quotient is at
/// most one too small, which the remainder tells. A divisor with its top bit set goes into a dividend once or not at
/// all.
Register ScalarLowering::unsignedQuotient(Register dividend, Register divisor) {
  if (registers_.isNonNegative(dividend) && registers_.isNonNegative(divisor))
    return registers_.binary(Opcode::DivTrunc, dividend, divisor);
  const Register zero = registers_.constant(0), one = registers_.constant(1), two = registers_.constant(2);
  const Register isLarge = registers_.less(divisor, zero);
  // Both ways are computed: the one that is not taken must not fail the call.
  const Register half = registers_.zeroExtend(registers_.binary(Opcode::FloorDiv, dividend, two), 63);
  const Register estimate = registers_.binary(
      Opcode::MulWrap, registers_.binary(Opcode::DivTrunc, half, registers_.select(isLarge, one, divisor)), two);
  const Register rest =
      registers_.binary(Opcode::SubWrap, dividend, registers_.binary(Opcode::MulWrap, estimate, divisor));
  const Register isShort = registers_.logicalNot(unsignedLess(rest, divisor, 64));
  return registers_.select(isLarge, registers_.logicalNot(unsignedLess(dividend, divisor, 64)),
                           registers_.binary(Opcode::AddWrap, estimate, isShort));
}

LogicalResult ScalarLowering::lowerUnsignedDivision(Operation *op) {
  const bool isWide = op->getOperand(0).getType().isInteger(64);
  auto operand = [&](unsigned n) { return isWide ? lookup(op->getOperand(n)) : asUnsigned(op->getOperand(n), op); };
  const Register dividend = operand(0), divisor = operand(1);
  if (!isWide || (registers_.isNonNegative(dividend) && registers_.isNonNegative(divisor))) {
    const Opcode opcode = isa<arith::DivUIOp>(op)   ? Opcode::DivTrunc
                          : isa<arith::RemUIOp>(op) ? Opcode::RemTrunc
                                                    : Opcode::CeilDiv;
    return finish(op, registers_.binary(opcode, dividend, divisor));
  }
  const Register quotient = unsignedQuotient(dividend, divisor);
  if (isa<arith::DivUIOp>(op))
    return finish(op, quotient);
  const Register rest =
      registers_.binary(Opcode::SubWrap, dividend, registers_.binary(Opcode::MulWrap, quotient, divisor));
  if (isa<arith::RemUIOp>(op))
    return finish(op, rest);
  const Register isExact = registers_.equal(rest, registers_.constant(0));
  return finish(op, registers_.binary(Opcode::AddWrap, quotient, registers_.logicalNot(isExact)));
}

/// An unsigned number of 64 bits as a float of `bits` bits: half of it, with a last bit that keeps what was cut off
/// from rounding to a tie, twice.
Register ScalarLowering::unsignedToReal(Register value, uint32_t bits) {
  const Register exact = integerToReal(value, bits);
  if (registers_.isNonNegative(value))
    return exact;
  const Register one = registers_.constant(1);
  const Register half = registers_.zeroExtend(registers_.binary(Opcode::FloorDiv, value, registers_.constant(2)), 63);
  const Register real =
      integerToReal(registers_.binary(Opcode::Or, half, registers_.binary(Opcode::And, value, one)), bits);
  return registers_.select(registers_.less(value, registers_.constant(0)),
                           registers_.real(Opcode::FAdd, bits, real, real), exact);
}

/// A float of `bits` bits as an unsigned number of 64 bits: 2^63 and above without 2^63, which is the top bit.
Register ScalarLowering::realToUnsigned(Register value, uint32_t bits) {
  const double top = 9223372036854775808.0;
  const Register limit =
      registers_.constant(bits == 32 ? int64_t(llvm::bit_cast<uint32_t>(float(top))) : llvm::bit_cast<int64_t>(top));
  const Register isLarge = registers_.real(Opcode::FLe, bits, limit, value);
  const Register low = registers_.select(isLarge, registers_.real(Opcode::FSub, bits, value, limit), value);
  const Register integer = registers_.real(Opcode::FToInt, bits, low);
  return registers_.binary(Opcode::Xor, integer,
                           registers_.select(isLarge, registers_.constant(kTopBit), registers_.constant(0)));
}

} // namespace tenon::compiler::host
