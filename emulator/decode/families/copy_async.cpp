// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt to and from pairs of 8-bit floating-point numbers, and cvt.pack.
#include "emulator/decode/decoder.h"
#include "emulator/handlers/narrow.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

/// cvt.rn.satfinite{.relu}.e4m3x2.f32 d, a, b; ...f16x2 d, a; cvt.rn{.relu}.f16x2.e4m3x2 d, a.
bool FunctionDecoder::decodeNarrowConversion(Form &form) {
  bool rn = form.take("rn"), satfinite = form.take("satfinite"), relu = form.take("relu");
  ScalarType to = form.takeType(), from = form.takeType();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!needsTarget(89))
    return false;
  auto isNarrow = [](ScalarType type) { return type == ScalarType::E4M3x2 || type == ScalarType::E5M2x2; };
  bool narrows = isNarrow(to);
  if (!rn || satfinite != narrows)
    return unsupported();
  decoded.flag =
      static_cast<uint8_t>(((narrows ? to : from) == ScalarType::E5M2x2 ? kNarrowE5M2 : 0) | (relu ? kNarrowRelu : 0));
  if (!narrows) {
    if (to != ScalarType::F16x2 || !isNarrow(from))
      return unsupported();
    decoded.handler = fromNarrowHandler();
    return expectOperands(2, 2) && destination(o[0], to, decoded.d) && source(o[1], ScalarType::B16, decoded.a) &&
           finish(form, decoded);
  }
  bool fromHalves = from == ScalarType::F16x2;
  if (!fromHalves && from != ScalarType::F32)
    return unsupported();
  decoded.handler = toNarrowHandler(fromHalves);
  size_t operands = fromHalves ? 2 : 3;
  return expectOperands(operands, operands) && destination(o[0], ScalarType::B16, decoded.d) &&
         source(o[1], from, decoded.a) && (fromHalves || source(o[2], from, decoded.b)) && finish(form, decoded);
}

/// cvt.pack.sat.type.s32{.b32} d, a, b{, c}
bool FunctionDecoder::decodePackConversion(Form &form) {
  struct Packed {
    std::string_view name;
    uint32_t bits;
    bool isSigned, above;
  };
  constexpr Packed kPacked[] = {{"u16", 16, false, false}, {"s16", 16, true, false}, {"u8", 8, false, true},
                                {"s8", 8, true, true},     {"u4", 4, false, true},   {"s4", 4, true, true},
                                {"u2", 2, false, true},    {"s2", 2, true, true}};
  const Packed *packed = nullptr;
  for (const Packed &candidate : kPacked)
    if (form.take(candidate.name))
      packed = &candidate;
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!packed || !form.take("sat") || !form.take("s32") || form.take("b32") != packed->above)
    return unsupported();
  size_t operands = packed->above ? 4 : 3;
  if (!expectOperands(operands, operands) || !destination(o[0], ScalarType::B32, decoded.d) ||
      !source(o[1], ScalarType::S32, decoded.a) || !source(o[2], ScalarType::S32, decoded.b) ||
      (packed->above && !source(o[3], ScalarType::B32, decoded.c)))
    return false;
  decoded.imm = packed->bits;
  decoded.flag = packed->isSigned;
  decoded.handler = packConversionHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
