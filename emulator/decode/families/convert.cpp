// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt.
#include "emulator/decode/decoder.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {

using ptx::ScalarType;

bool FunctionDecoder::decodeCvt() {
  Form form(*in_);
  if (form.take("pack"))
    return decodePackConversion(form);
  for (std::string_view narrow : {"e4m3x2", "e5m2x2"})
    if (in_->hasModifier(narrow))
      return decodeNarrowConversion(form);
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
    return unsupported();
  // The modifiers that the ISA wants, and those that would not mean anything.
  if (!toInteger && !fromInteger && (narrows || pair || otherHalf || convert.to == ScalarType::TF32) &&
      (convert.rounding == Rounding::None || integral))
    return fail("'" + in_->form() + "' needs a rounding modifier (.rn, .rz, ...)");
  if (toInteger && !fromInteger && !integral)
    return fail("'" + in_->form() + "' needs an integer rounding modifier (.rni, .rzi, .rmi, .rpi)");
  if (fromInteger && !toInteger && (convert.rounding == Rounding::None || integral))
    return fail("'" + in_->form() + "' needs a rounding modifier (.rn, .rz, ...)");
  if (toInteger && fromInteger && convert.rounding != Rounding::None)
    return unsupported("integers are not rounded");
  if (convert.rounding == Rounding::Rna && convert.to != ScalarType::TF32)
    return unsupported("'.rna' is for .tf32");
  bool half = isHalf(convert.to) || convert.to == ScalarType::TF32;
  if ((convert.relu || convert.satfinite) && !half)
    return unsupported();
  if (convert.ftz && convert.from != ScalarType::F32 && convert.to != ScalarType::F32)
    return unsupported("'.ftz' is for .f32");
  bool widensFloat = !toInteger && !fromInteger && !pair && ptx::byteSize(convert.to) > ptx::byteSize(convert.from);
  if (widensFloat && convert.rounding != Rounding::None)
    return unsupported("a conversion that is exact is not rounded");
  bool sameFloat = !toInteger && !fromInteger && convert.to == convert.from;
  if (sameFloat && convert.rounding != Rounding::None && !integral)
    return unsupported("it rounds to integers only (.rni, .rzi, .rmi, .rpi)");

  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  size_t operands = pair ? 3 : 2;
  ScalarType result = convert.to == ScalarType::TF32 ? ScalarType::B32 : convert.to;
  if (!expectOperands(operands, operands) || !destination(o[0], result, decoded.d, true) ||
      !source(o[1], convert.from, decoded.a, true) || (pair && !source(o[2], convert.from, decoded.b, true)))
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
  return finish(form, decoded);
}

} // namespace tenon::emulator
