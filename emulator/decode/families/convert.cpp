// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt, cvt to and from pairs of 8-bit floating-point numbers, and cvt.pack.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/narrow.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// cvt.rn.satfinite{.relu}.e4m3x2.f32 d, a, b; ...f16x2 d, a; cvt.rn{.relu}.f16x2.e4m3x2 d, a.
bool decodeNarrowConversion(Decoder &decoder, Form &form) {
  bool rn = form.take("rn"), satfinite = form.take("satfinite"), relu = form.take("relu");
  ScalarType to = form.takeType(), from = form.takeType();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.needsTarget(89))
    return false;
  auto isNarrow = [](ScalarType type) { return type == ScalarType::E4M3x2 || type == ScalarType::E5M2x2; };
  bool narrows = isNarrow(to);
  if (!rn || satfinite != narrows)
    return decoder.unsupported();
  decoded.flag =
      static_cast<uint8_t>(((narrows ? to : from) == ScalarType::E5M2x2 ? kNarrowE5M2 : 0) | (relu ? kNarrowRelu : 0));
  if (!narrows) {
    if (to != ScalarType::F16x2 || !isNarrow(from))
      return decoder.unsupported();
    decoded.handler = fromNarrowHandler();
    return decoder.expectOperands(2, 2) && decoder.destination(o[0], to, decoded.d) &&
           decoder.source(o[1], ScalarType::B16, decoded.a) && decoder.finish(form, decoded);
  }
  bool fromHalves = from == ScalarType::F16x2;
  if (!fromHalves && from != ScalarType::F32)
    return decoder.unsupported();
  decoded.handler = toNarrowHandler(fromHalves);
  size_t operands = fromHalves ? 2 : 3;
  return decoder.expectOperands(operands, operands) && decoder.destination(o[0], ScalarType::B16, decoded.d) &&
         decoder.source(o[1], from, decoded.a) && (fromHalves || decoder.source(o[2], from, decoded.b)) &&
         decoder.finish(form, decoded);
}

/// cvt.pack.sat.type.s32{.b32} d, a, b{, c}
bool decodePackConversion(Decoder &decoder) {
  Form form(decoder.in());
  form.take("pack");
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
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!packed || !form.take("sat") || !form.take("s32") || form.take("b32") != packed->above)
    return decoder.unsupported();
  size_t operands = packed->above ? 4 : 3;
  if (!decoder.expectOperands(operands, operands) || !decoder.destination(o[0], ScalarType::B32, decoded.d) ||
      !decoder.source(o[1], ScalarType::S32, decoded.a) || !decoder.source(o[2], ScalarType::S32, decoded.b) ||
      (packed->above && !decoder.source(o[3], ScalarType::B32, decoded.c)))
    return false;
  decoded.imm = packed->bits;
  decoded.flag = packed->isSigned;
  decoded.handler = packConversionHandler();
  return decoder.finish(form, decoded);
}

bool decodeCvt(Decoder &decoder) {
  Form form(decoder.in());
  for (std::string_view narrow : {"e4m3x2", "e5m2x2"})
    if (decoder.in().hasModifier(narrow))
      return decodeNarrowConversion(decoder, form);
  ConvertForm convert;
  convert.rounding = form.takeRounding();
  convert.ftz = form.take("ftz");
  convert.sat = form.take("sat");
  convert.relu = form.take("relu");
  convert.satfinite = form.take("satfinite");
  convert.to = form.takeType();
  convert.from = form.takeType();
  auto toInteger = isInteger(convert.to), fromInteger = isInteger(convert.from);
  bool pair = convert.to == ScalarType::F16x2 || convert.to == ScalarType::BF16x2;
  bool integral = convert.rounding >= Rounding::Rni;
  bool narrows = !toInteger && !fromInteger && ptx::byteSize(convert.to) < ptx::byteSize(convert.from) * (pair ? 2 : 1);
  bool otherHalf = isHalf(convert.to) && isHalf(convert.from) && convert.to != convert.from;
  if (convert.to == ScalarType::None || convert.from == ScalarType::None)
    return decoder.unsupported();
  // The modifiers that the ISA wants, and those that would not mean anything.
  if (!toInteger && !fromInteger && (narrows || pair || otherHalf || convert.to == ScalarType::TF32) &&
      (convert.rounding == Rounding::None || integral))
    return decoder.fail("'" + decoder.in().form() + "' needs a rounding modifier (.rn, .rz, ...)");
  if (toInteger && !fromInteger && !integral)
    return decoder.fail("'" + decoder.in().form() + "' needs an integer rounding modifier (.rni, .rzi, .rmi, .rpi)");
  if (fromInteger && !toInteger && (convert.rounding == Rounding::None || integral))
    return decoder.fail("'" + decoder.in().form() + "' needs a rounding modifier (.rn, .rz, ...)");
  if (toInteger && fromInteger && convert.rounding != Rounding::None)
    return decoder.unsupported("integers are not rounded");
  if (convert.rounding == Rounding::Rna && convert.to != ScalarType::TF32)
    return decoder.unsupported("'.rna' is for .tf32");
  bool half = isHalf(convert.to) || convert.to == ScalarType::TF32;
  if ((convert.relu || convert.satfinite) && !half)
    return decoder.unsupported();
  if (convert.ftz && convert.from != ScalarType::F32 && convert.to != ScalarType::F32)
    return decoder.unsupported("'.ftz' is for .f32");
  bool widensFloat = !toInteger && !fromInteger && !pair && ptx::byteSize(convert.to) > ptx::byteSize(convert.from);
  if (widensFloat && convert.rounding != Rounding::None)
    return decoder.unsupported("a conversion that is exact is not rounded");
  bool sameFloat = !toInteger && !fromInteger && convert.to == convert.from;
  if (sameFloat && convert.rounding != Rounding::None && !integral)
    return decoder.unsupported("it rounds to integers only (.rni, .rzi, .rmi, .rpi)");

  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  size_t operands = pair ? 3 : 2;
  ScalarType result = convert.to == ScalarType::TF32 ? ScalarType::B32 : convert.to;
  if (!decoder.expectOperands(operands, operands) || !decoder.destination(o[0], result, decoded.d, true) ||
      !decoder.source(o[1], convert.from, decoded.a, true) ||
      (pair && !decoder.source(o[2], convert.from, decoded.b, true)))
    return false;
  decoded.flag = convert.sat;
  Rounding stored = convert.rounding == Rounding::None ? Rounding::Rn : convert.rounding;
  decoded.imm = static_cast<int64_t>(stored);
  if (isHalf(convert.to))
    decoded.imm |= static_cast<int64_t>(convert.sat) << 8 | static_cast<int64_t>(convert.relu) << 9 |
                   static_cast<int64_t>(convert.ftz) << 10 | static_cast<int64_t>(convert.satfinite) << 11;
  else if (isHalf(convert.from) && toInteger)
    decoded.imm |= static_cast<int64_t>(ptx::byteSize(convert.to)) << 8 | static_cast<int64_t>(isSigned(convert.to))
                                                                              << 16;
  decoded.handler = handlers().convert(convert);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family convert() {
  static constexpr Opcode kRows[] = {
      {"cvt", &decodeCvt},
      {"cvt.pack", &decodePackConversion},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
