// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/families/arithmetic_forms.h"

#include "ptx/scalar_type.h"

namespace tenon::emulator {
namespace {

/// The destination and the sources, which are the first operands.
bool typedOperands(Decoder &decoder, ptx::ScalarType type, uint32_t sources, Decoded &decoded) {
  const ptx::List<ptx::Operand> &o = decoder.in().operands;
  return decoder.expectOperands(sources + 1, sources + 1) && decoder.destination(o[0], type, decoded.d) &&
         decoder.source(o[1], type, decoded.a) && (sources < 2 || decoder.source(o[2], type, decoded.b)) &&
         (sources < 3 || decoder.source(o[3], type, decoded.c));
}

} // namespace

bool emitFloat(Decoder &decoder, Form &form, FloatForm floatForm, uint32_t sources) {
  Decoded decoded;
  if (!typedOperands(decoder, floatForm.type, sources, decoded))
    return false;
  decoded.handler = isHalf(floatForm.type) ? handlers().half(floatForm) : handlers().floating(floatForm);
  return decoder.finish(form, decoded);
}

bool emitInteger(Decoder &decoder, Form &form, IntOp op, ptx::ScalarType type, uint32_t sources) {
  Decoded decoded;
  if (!typedOperands(decoder, type, sources, decoded))
    return false;
  decoded.handler = handlers().integer(op, type);
  return decoder.finish(form, decoded);
}

} // namespace tenon::emulator
