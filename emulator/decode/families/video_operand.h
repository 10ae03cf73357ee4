// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of the video instructions: a register with, behind a dot, which of its bytes or halves are meant:
// `%r1.h0`, `%r2.b7654`, and for a destination `%r3.b10`, the parts that are written.
//
// Source: PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
#pragma once

#include "emulator/decode/decoder.h"

#include <string_view>

namespace tenon::emulator {

/// `operand` without its selector. selector: what stands behind the dot, `h10`; empty: nothing.
inline ptx::Operand withoutSelector(const ptx::Operand &operand, std::string_view &selector) {
  ptx::Operand plain = operand;
  selector = {};
  const size_t dot = operand.name.find('.');
  // %tid.x is a special register, with a dot in its name.
  if (operand.kind != ptx::Operand::Kind::Name || dot == std::string_view::npos || dot + 1 == operand.name.size() ||
      (operand.name[dot + 1] != 'b' && operand.name[dot + 1] != 'h'))
    return plain;
  selector = operand.name.substr(dot + 1);
  plain.name = operand.name.substr(0, dot);
  return plain;
}

} // namespace tenon::emulator
