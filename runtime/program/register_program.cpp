// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An interpreter of 22 operations over int64. Every operation is checked: wrong arithmetic would become a wrong grid or
// a wrong size. No operation is undefined, the smallest number divided by -1 included.
#include "runtime/program/register_program.h"

#include <algorithm>
#include <limits>

namespace tenon::runtime {

namespace {

using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// Why one operation has no result.
enum class Fault : uint8_t { None, Overflow, DivisionByZero, BadWidth, BadAlignment, BadInput };

struct Outcome {
  int64_t value = 0;
  Fault fault = Fault::None;
};

Outcome fault(Fault why) {
  return {0, why};
}

// Rounded toward minus infinity, plus infinity or zero.
enum class Rounding : uint8_t { Floor, Ceil, Zero };

Outcome divide(int64_t a, int64_t b, Rounding rounding) {
  if (b == 0)
    return fault(Fault::DivisionByZero);
  if (a == kMin && b == -1)
    return fault(Fault::Overflow);
  int64_t quotient = a / b;
  const bool inexact = a % b != 0;
  const bool negative = (a < 0) != (b < 0);
  if (rounding == Rounding::Floor && inexact && negative)
    --quotient;
  if (rounding == Rounding::Ceil && inexact && !negative)
    ++quotient;
  return {quotient};
}

/// The remainder that goes with divide(): of the divisor's sign (Floor) or of the dividend's (Zero).
Outcome remainder(int64_t a, int64_t b, Rounding rounding) {
  if (b == 0)
    return fault(Fault::DivisionByZero);
  if (b == -1)
    return {0}; // also for the smallest number, whose quotient does not exist
  int64_t rest = a % b;
  if (rounding == Rounding::Floor && rest != 0 && (rest < 0) != (b < 0))
    rest += b;
  return {rest};
}

Outcome align(int64_t a, int64_t b) {
  if (b <= 0)
    return fault(Fault::BadAlignment);
  const int64_t over = a % b;
  if (over == 0)
    return {a};
  // Up, also below zero: -5 aligned to 4 is -4.
  int64_t out;
  if (__builtin_add_overflow(a, over > 0 ? b - over : -over, &out))
    return fault(Fault::Overflow);
  return {out};
}

Outcome extend(int64_t a, int64_t bits, bool isSigned) {
  if (bits < 1 || bits > 64)
    return fault(Fault::BadWidth);
  const int shift = static_cast<int>(64 - bits);
  const uint64_t raised = static_cast<uint64_t>(a) << shift;
  return {isSigned ? static_cast<int64_t>(raised) >> shift : static_cast<int64_t>(raised >> shift)};
}

Outcome argument(std::span<const Value> inputs, const RegisterOp &op) {
  const Scalar *scalar = op.a() < inputs.size() ? std::get_if<Scalar>(&inputs[op.a()]) : nullptr;
  return scalar ? Outcome{scalar->bits} : fault(Fault::BadInput);
}

Outcome dimension(std::span<const Value> inputs, const RegisterOp &op) {
  const Tensor *tensor = op.a() < inputs.size() ? std::get_if<Tensor>(&inputs[op.a()]) : nullptr;
  if (!tensor || op.b() >= tensor->shape.size())
    return fault(Fault::BadInput);
  return {tensor->shape[op.b()]};
}

Outcome evaluate(const RegisterOp &op, const int64_t *registers, std::span<const Value> inputs) {
  const auto a = [&] { return registers[op.a()]; };
  const auto b = [&] { return registers[op.b()]; };
  int64_t out = 0;
  switch (op.opcode()) {
  case RegisterOpcode::Const:
    return {op.imm()};
  case RegisterOpcode::Arg:
    return argument(inputs, op);
  case RegisterOpcode::Dim:
    return dimension(inputs, op);
  case RegisterOpcode::Add:
    return __builtin_add_overflow(a(), b(), &out) ? fault(Fault::Overflow) : Outcome{out};
  case RegisterOpcode::Sub:
    return __builtin_sub_overflow(a(), b(), &out) ? fault(Fault::Overflow) : Outcome{out};
  case RegisterOpcode::Mul:
    return __builtin_mul_overflow(a(), b(), &out) ? fault(Fault::Overflow) : Outcome{out};
  case RegisterOpcode::FloorDiv:
    return divide(a(), b(), Rounding::Floor);
  case RegisterOpcode::CeilDiv:
    return divide(a(), b(), Rounding::Ceil);
  case RegisterOpcode::DivTrunc:
    return divide(a(), b(), Rounding::Zero);
  case RegisterOpcode::Mod:
    return remainder(a(), b(), Rounding::Floor);
  case RegisterOpcode::RemTrunc:
    return remainder(a(), b(), Rounding::Zero);
  case RegisterOpcode::Min:
    return {std::min(a(), b())};
  case RegisterOpcode::Max:
    return {std::max(a(), b())};
  case RegisterOpcode::And:
    return {a() & b()};
  case RegisterOpcode::Or:
    return {a() | b()};
  case RegisterOpcode::Xor:
    return {a() ^ b()};
  case RegisterOpcode::Eq:
    return {a() == b()};
  case RegisterOpcode::Lt:
    return {a() < b()};
  case RegisterOpcode::Select:
    return {a() ? b() : registers[op.c()]};
  case RegisterOpcode::Align:
    return align(a(), b());
  case RegisterOpcode::SignExtend:
    return extend(a(), op.imm(), true);
  case RegisterOpcode::ZeroExtend:
    return extend(a(), op.imm(), false);
  }
  return fault(Fault::BadInput);
}

/// "function 'f': register 3 (mul of 4611686018427387904 and 2) overflows 64 bits".
Status describe(const abi::fb::Function &function, uint32_t index, const int64_t *registers, Fault why) {
  const RegisterOp &op = *function.registers()->Get(index);
  const std::string where = concat("function '", function.name()->string_view(), "': register ", index, " (",
                                   abi::fb::EnumNameRegisterOpcode(op.opcode()));
  switch (why) {
  case Fault::None:
    return okStatus();
  case Fault::Overflow:
    return makeError(StatusCode::OutOfRange, where, " of ", registers[op.a()], " and ", registers[op.b()],
                     ") overflows 64 bits");
  case Fault::DivisionByZero:
    return makeError(StatusCode::InvalidArgument, where, " of ", registers[op.a()], " by 0): division by zero");
  case Fault::BadWidth:
    return makeError(StatusCode::InvalidArgument, where, " from ", op.imm(), " bits): a width is 1 to 64 bits");
  case Fault::BadAlignment:
    return makeError(StatusCode::InvalidArgument, where, " to ", registers[op.b()], "): an alignment is positive");
  case Fault::BadInput:
    return makeError(StatusCode::InvalidArgument, where, "): the function has no such input or dimension");
  }
  return okStatus();
}

} // namespace

Result<std::vector<int64_t>> runRegisterProgram(const abi::fb::Function &function, std::span<const Value> inputs) {
  std::vector<int64_t> registers;
  if (!function.registers())
    return registers;
  const uint32_t count = function.registers()->size();
  registers.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Outcome outcome = evaluate(*function.registers()->Get(i), registers.data(), inputs);
    if (outcome.fault != Fault::None)
      return describe(function, i, registers.data(), outcome.fault);
    registers[i] = outcome.value;
  }
  return registers;
}

} // namespace tenon::runtime
