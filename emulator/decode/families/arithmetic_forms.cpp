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

/// Two f32 in one register, each for itself. Since sm_100.
bool emitPair(Decoder &decoder, Form &form, FloatForm floatForm, uint32_t sources) {
  const ptx::List<ptx::Operand> &o = decoder.in().operands;
  if (!decoder.needsTarget(100) || !decoder.expectOperands(sources + 1, sources + 1))
    return false;
  floatForm.type = ptx::ScalarType::F32;
  auto twoRegisters = [&] { return std::vector<uint32_t>{decoder.allocateRegister(4), decoder.allocateRegister(4)}; };
  Decoded halves[2];
  for (uint32_t i = 0; i < sources; ++i) {
    const std::vector<uint32_t> parts = twoRegisters();
    Decoded unpack;
    if (!decoder.source(o[i + 1], ptx::ScalarType::F32x2, unpack.a))
      return false;
    unpack.list = decoder.addOperands(parts);
    unpack.handler = handlers().pack(false, 8, 2);
    decoder.emit(unpack);
    for (uint32_t half = 0; half < 2; ++half)
      (i == 0 ? halves[half].a : i == 1 ? halves[half].b : halves[half].c) = parts[half];
  }
  const std::vector<uint32_t> results = twoRegisters();
  for (uint32_t half = 0; half < 2; ++half) {
    halves[half].d = results[half];
    halves[half].handler = floatForm.sat ? nullptr : handlers().floating(floatForm);
    if (!halves[half].handler)
      return decoder.unsupported();
    decoder.emit(halves[half]);
  }
  Decoded pack;
  pack.list = decoder.addOperands(results);
  pack.handler = handlers().pack(true, 8, 2);
  return decoder.destination(o[0], ptx::ScalarType::F32x2, pack.d) && decoder.finish(form, pack);
}

} // namespace

bool emitFloat(Decoder &decoder, Form &form, FloatForm floatForm, uint32_t sources) {
  if (floatForm.type == ptx::ScalarType::F32x2)
    return emitPair(decoder, form, floatForm, sources);
  Decoded decoded;
  if (!typedOperands(decoder, floatForm.type, sources, decoded))
    return false;
  decoded.handler = isHalf(floatForm.type) ? handlers().half(floatForm) : handlers().floating(floatForm);
  return decoder.finish(form, decoded);
}

bool emitMixed(Decoder &decoder, Form &form, FloatForm floatForm, ptx::ScalarType narrow, uint32_t sources) {
  const ptx::List<ptx::Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.needsTarget(100) || !decoder.expectOperands(sources + 1, sources + 1) ||
      !decoder.destination(o[0], floatForm.type, decoded.d))
    return false;
  if (floatForm.ftz)
    return decoder.unsupported("'.ftz' is for sources of one type");
  uint32_t *const places[] = {&decoded.a, &decoded.b, &decoded.c};
  for (uint32_t i = 0; i + 1 < sources; ++i) {
    Decoded widened;
    if (!decoder.source(o[i + 1], narrow, widened.a))
      return false;
    widened.d = *places[i] = decoder.allocateRegister(4);
    widened.imm = static_cast<int64_t>(Rounding::Rn);
    ConvertForm convert;
    convert.to = floatForm.type;
    convert.from = narrow;
    widened.handler = handlers().convert(convert);
    decoder.emit(widened);
  }
  decoded.handler = handlers().floating(floatForm);
  return decoder.source(o[sources], floatForm.type, *places[sources - 1]) && decoder.finish(form, decoded);
}

bool emitInteger(Decoder &decoder, Form &form, IntOp op, ptx::ScalarType type, uint32_t sources) {
  Decoded decoded;
  if (!typedOperands(decoder, type, sources, decoded))
    return false;
  decoded.handler = handlers().integer(op, type);
  return decoder.finish(form, decoded);
}

} // namespace tenon::emulator
