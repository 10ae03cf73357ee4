// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation of a register program computes. The compiler folds constants with it and the runtime runs
// functions with it, so a folded size and a computed one are always the same number.
// Specification: the comments of RegisterOpcode in schemas/program.fbs. Values are int64; nothing wraps and nothing is
// undefined: what has no result says why.
#pragma once

#include "abi/format/program_generated.h"

#include <cstdint>

namespace tenon::abi {

/// Why an operation has no result.
enum class ArithmeticFault : uint8_t {
  None,
  Overflow,       // the result does not fit 64 bits
  DivisionByZero, // FloorDiv, CeilDiv, Mod, DivTrunc, RemTrunc
  BadAlignment,   // Align to less than 1
  BadWidth,       // SignExtend, ZeroExtend of fewer than 1 or more than 64 bits
  NoArithmetic    // Arg, Dim and unknown opcodes: their value is not computed from numbers
};

struct ArithmeticResult {
  int64_t value = 0; // 0 where there is a fault
  ArithmeticFault fault = ArithmeticFault::None;
  bool ok() const { return fault == ArithmeticFault::None; }
};

/// How many of a, b and c an operation reads as registers, the first n of them; 0 for an unknown opcode.
uint32_t operandCount(fb::RegisterOpcode opcode);

/// The value of one operation.
/// @param a, b, c  values of its registers; those that it does not read are ignored
/// @param imm      Const: the value; SignExtend, ZeroExtend: the number of bits
ArithmeticResult evaluate(fb::RegisterOpcode opcode, int64_t a, int64_t b = 0, int64_t c = 0, int64_t imm = 0);

} // namespace tenon::abi
