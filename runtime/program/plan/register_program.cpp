// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation computes is abi/format/arithmetic's; here are the function's inputs, and the message of what fails.
#include "runtime/program/plan/register_program.h"

#include "abi/format/arithmetic.h"

#include <optional>

namespace tenon::runtime {

namespace {

using abi::ArithmeticFault;
using abi::ArithmeticResult;
using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

/// Nothing: the function has no such input.
std::optional<int64_t> argument(std::span<const Value> inputs, const RegisterOp &op) {
  const Scalar *scalar = op.a() < inputs.size() ? std::get_if<Scalar>(&inputs[op.a()]) : nullptr;
  return scalar ? std::optional(scalar->bits) : std::nullopt;
}

std::optional<int64_t> dimension(std::span<const Value> inputs, const RegisterOp &op) {
  const Tensor *tensor = op.a() < inputs.size() ? std::get_if<Tensor>(&inputs[op.a()]) : nullptr;
  if (!tensor || op.b() >= tensor->shape.size())
    return std::nullopt;
  return tensor->shape[op.b()];
}

ArithmeticResult evaluate(const RegisterOp &op, const int64_t *registers, std::span<const Value> inputs) {
  if (op.opcode() == RegisterOpcode::Arg || op.opcode() == RegisterOpcode::Dim) {
    const std::optional<int64_t> value =
        op.opcode() == RegisterOpcode::Arg ? argument(inputs, op) : dimension(inputs, op);
    return value ? ArithmeticResult{*value} : ArithmeticResult{0, ArithmeticFault::NoArithmetic};
  }
  const uint32_t reads = abi::operandCount(op.opcode());
  return abi::evaluate(op.opcode(), reads > 0 ? registers[op.a()] : 0, reads > 1 ? registers[op.b()] : 0,
                       reads > 2 ? registers[op.c()] : 0, op.imm());
}

/// "function 'f': register 3 (mul of 4611686018427387904 and 2) overflows 64 bits".
Status describe(const abi::fb::Function &function, uint32_t index, const int64_t *registers, ArithmeticFault why) {
  const RegisterOp &op = *function.registers()->Get(index);
  const std::string where = concat("function '", function.name()->string_view(), "': register ", index, " (",
                                   abi::fb::EnumNameRegisterOpcode(op.opcode()));
  switch (why) {
  case ArithmeticFault::None:
    return okStatus();
  case ArithmeticFault::Overflow:
    return makeError(StatusCode::OutOfRange, where, " of ", registers[op.a()], " and ", registers[op.b()],
                     ") overflows 64 bits");
  case ArithmeticFault::DivisionByZero:
    return makeError(StatusCode::InvalidArgument, where, " of ", registers[op.a()], " by 0): division by zero");
  case ArithmeticFault::BadWidth:
    return makeError(StatusCode::InvalidArgument, where, " from ", op.imm(), " bits): a width is 1 to 64 bits");
  case ArithmeticFault::NotAnInteger:
    return makeError(StatusCode::OutOfRange, where, " of a float that is no number, or none that fits 64 bits)");
  case ArithmeticFault::BadAlignment:
    return makeError(StatusCode::InvalidArgument, where, " to ", registers[op.b()], "): an alignment is positive");
  case ArithmeticFault::NoArithmetic:
    return makeError(StatusCode::InvalidArgument, where, "): the function has no such input or dimension");
  }
  return okStatus();
}

} // namespace

Result<std::vector<int64_t>> runRegisterProgram(const abi::fb::Function &function, std::span<const Value> inputs) {
  std::vector<int64_t> registers;
  TENON_RETURN_IF_ERROR(runRegisterProgram(function, inputs, registers));
  return registers;
}

Status runRegisterProgram(const abi::fb::Function &function, std::span<const Value> inputs,
                          std::vector<int64_t> &registers) {
  const uint32_t count = function.registers() ? function.registers()->size() : 0;
  registers.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const ArithmeticResult result = evaluate(*function.registers()->Get(i), registers.data(), inputs);
    if (!result.ok())
      return describe(function, i, registers.data(), result.fault);
    registers[i] = result.value;
  }
  return okStatus();
}

} // namespace tenon::runtime
