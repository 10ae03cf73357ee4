// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation of a register program computes. The compiler folds constants with it and the runtime runs
// functions with it, so a folded size and a computed one are always the same number.
// Specification: the comments of RegisterOpcode in schemas/program.fbs. Values are int64; nothing wraps and nothing is
// undefined: what has no result says why. A float is its bits, zero-extended; its arithmetic is IEEE 754's, rounded to
// nearest, the same on every machine, and has no function that libraries compute differently (exp, sin).
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
  BadWidth,       // SignExtend, ZeroExtend of fewer than 1 or more than 64 bits; floats of other widths than 32, 64
  NotAnInteger,   // FToInt of NaN, or of what does not fit 64 bits
  NoArithmetic    // Arg, Dim and unknown opcodes: their value is not computed from numbers
};

struct ArithmeticResult {
  int64_t value = 0; // 0 where there is a fault
  ArithmeticFault fault = ArithmeticFault::None;
  bool ok() const { return fault == ArithmeticFault::None; }
};

/// How many of a, b and c an operation reads as registers, the first n of them; 0 for an unknown opcode.
uint32_t operandCount(fb::RegisterOpcode opcode);

/// Whether `imm` says a width (or, FConvert, a pair of types) that the operation has; true for one that has none.
bool isWidthValid(fb::RegisterOpcode opcode, int64_t imm);
/// FConvert's `imm`.
int64_t conversionOf(fb::ElementType from, fb::ElementType to);

/// The value of one operation.
/// @param a, b, c  values of its registers; those that it does not read are ignored
/// @param imm      Const: the value; SignExtend, ZeroExtend, floats: the number of bits; FConvert: conversionOf()
ArithmeticResult evaluate(fb::RegisterOpcode opcode, int64_t a, int64_t b = 0, int64_t c = 0, int64_t imm = 0);

} // namespace tenon::abi
