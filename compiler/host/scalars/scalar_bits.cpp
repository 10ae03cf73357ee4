// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shifts and counts of bits, of scalars. A register program has neither: a shift is a product with a power of two, or a
// floor division by one, and counts are sums of fields that grow from one bit to a byte.
#include "compiler/host/scalars/scalar_lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

/// Of registers, whatever MLIR has of their values.
class Bits {
public:
  explicit Bits(RegisterProgram &registers) : registers_(registers) {}

  Register constant(int64_t value) { return registers_.constant(value); }
  Register plus(Register a, Register b) { return registers_.add(a, b); }
  Register minus(Register a, Register b) { return registers_.binary(Opcode::Sub, a, b); }
  Register both(Register a, Register b) { return registers_.binary(Opcode::And, a, b); }
  Register either(Register a, Register b) { return registers_.binary(Opcode::Or, a, b); }
  Register without(Register a, Register b) { return both(a, registers_.binary(Opcode::Xor, b, constant(-1))); }

  /// `value` times 2^amount, 0 <= amount <= 63: modulo 2^64, or, of a size, one that fails the call where bits are
  /// lost.
  Register left(Register value, Register amount, bool isSize) {
    return twice(isSize ? Opcode::Mul : Opcode::MulWrap, value, amount);
  }
  /// floor(value / 2^amount), 0 <= amount <= 63.
  Register right(Register value, Register amount) { return twice(Opcode::FloorDiv, value, amount); }
  Register rightBy(Register value, int64_t amount) { return right(value, constant(amount)); }
  /// The same, of the 64 bits as an unsigned number: what the sign was shifted to is cleared. Where the amount is not
  /// known, that is done behind the first of its places.
  Register rightUnsigned(Register value, Register amount) {
    if (std::optional<int64_t> known = registers_.constantValue(amount))
      return registers_.zeroExtend(right(value, amount), uint32_t(64 - *known));
    const Register half = registers_.zeroExtend(rightBy(value, 1), 63);
    const Register rest = registers_.binary(Opcode::Max, minus(amount, constant(1)), constant(0));
    return registers_.select(amount, right(half, rest), value);
  }

  /// How many bits of a number of 32 bits, which is not negative, are set.
  Register countOnes(Register word) {
    word = minus(word, both(rightBy(word, 1), constant(0x55555555)));
    word = plus(both(word, constant(0x33333333)), both(rightBy(word, 2), constant(0x33333333)));
    word = both(plus(word, rightBy(word, 4)), constant(0x0f0f0f0f));
    return both(rightBy(registers_.mul(word, constant(0x01010101)), 24), constant(0xff));
  }
  /// How many bits a number of 32 bits has, without leading zeros.
  Register length(Register word) {
    for (int64_t places : {1, 2, 4, 8, 16})
      word = either(word, rightBy(word, places));
    return countOnes(word);
  }
  /// How many zeros follow the last bit that is set; 32 where none is.
  Register trailingZeros(Register word) {
    return countOnes(both(without(minus(word, constant(1)), word), constant(0xffffffff)));
  }

private:
  /// In two steps, for 2^63 is no int64: the amount's first half, then the rest. One where the amount is known and
  /// small enough.
  Register twice(Opcode opcode, Register value, Register amount) {
    if (std::optional<int64_t> known = registers_.constantValue(amount); known && *known < 63)
      return registers_.binary(opcode, value, constant(int64_t(1) << *known));
    const Register half = registers_.binary(Opcode::FloorDiv, amount, constant(2));
    return registers_.binary(opcode, registers_.binary(opcode, value, powerOfTwo(half)),
                             powerOfTwo(minus(amount, half)));
  }
  /// 2^exponent, 0 <= exponent <= 32: the product of 2^(2^n) for each bit n of the exponent.
  Register powerOfTwo(Register exponent) {
    Register power = constant(1);
    for (int64_t bit = 0; bit <= 5; ++bit)
      power = registers_.mul(power, registers_.select(both(exponent, constant(int64_t(1) << bit)),
                                                      constant(int64_t(1) << (int64_t(1) << bit)), constant(1)));
    return power;
  }

  RegisterProgram &registers_;
};

} // namespace

/// An amount that the type has no bit for makes no value, which must not fail the call: another path may be taken. It
/// is taken modulo the bits of the type.
LogicalResult ScalarLowering::lowerShift(Operation *op, uint32_t width) {
  Bits bits(registers_);
  const Register value = lookup(op->getOperand(0));
  Register amount = lookup(op->getOperand(1));
  if (std::optional<int64_t> known = registers_.constantValue(amount); known && (*known < 0 || *known >= width))
    return op->emitOpError() << "shifts by " << *known << ", the type has " << width << " bits";
  amount = registers_.binary(Opcode::Mod, amount, bits.constant(width));
  if (isa<arith::ShLIOp>(op))
    return finish(op, bits.left(value, amount, op->getResult(0).getType().isIndex()));
  if (isa<arith::ShRSIOp>(op))
    return finish(op, bits.right(asSigned(op->getOperand(0)), amount));
  return finish(op, width < 64 ? bits.right(registers_.zeroExtend(value, width), amount)
                               : bits.rightUnsigned(value, amount));
}

LogicalResult ScalarLowering::lowerBitCount(Operation *op, uint32_t width) {
  Bits bits(registers_);
  const Register value = lookup(op->getOperand(0));
  const Register low = registers_.zeroExtend(value, std::min(width, 32u));
  const Register high =
      width <= 32 ? bits.constant(0) : registers_.zeroExtend(bits.rightBy(value, 32), std::min(width - 32, 32u));
  const Register count =
      llvm::TypeSwitch<Operation *, Register>(op)
          .Case<math::CtPopOp>([&](auto) { return bits.plus(bits.countOnes(low), bits.countOnes(high)); })
          .Case<math::CountLeadingZerosOp>([&](auto) {
            const Register length =
                registers_.select(high, bits.plus(bits.length(high), bits.constant(32)), bits.length(low));
            return bits.minus(bits.constant(width), length);
          })
          .Default([&](Operation *) {
            const Register inHigh = bits.plus(bits.trailingZeros(high), bits.constant(32));
            return registers_.binary(Opcode::Min, registers_.select(low, bits.trailingZeros(low), inHigh),
                                     bits.constant(width));
          });
  return finish(op, count);
}

} // namespace tenon::compiler::host
