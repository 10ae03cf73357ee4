// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic: which operation, types and modifiers, and from these the handler.
#include "emulator/decode/decoder.h"
#include "emulator/decode/families/arithmetic_forms.h"
#include "emulator/decode/opcode.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {
namespace {

using ptx::ScalarType;

/// Twice as wide, of the same kind.
ScalarType wider(ScalarType type) {
  switch (type) {
  case ScalarType::U16:
    return ScalarType::U32;
  case ScalarType::S16:
    return ScalarType::S32;
  case ScalarType::U32:
    return ScalarType::U64;
  case ScalarType::S32:
    return ScalarType::S64;
  default:
    return ScalarType::None;
  }
}

/// Of a form whose type is f32: that of the sources which are narrower, where it names one.
ScalarType takeNarrow(Form &form, ScalarType type) {
  if (type != ScalarType::F32)
    return ScalarType::None;
  return form.take("f16") ? ScalarType::F16 : form.take("bf16") ? ScalarType::BF16 : ScalarType::None;
}

/// add.cc addc sub.cc subc mad.cc madc: through the carry mask of the frame.
bool decodeCarry(Decoder &decoder) {
  Form form(decoder.in());
  std::string_view name = decoder.in().opcode;
  ScalarType type = form.takeType();
  if (type != ScalarType::U32 && type != ScalarType::S32 && type != ScalarType::U64 && type != ScalarType::S64)
    return decoder.unsupported();
  Decoded decoded;
  bool isMad = name.starts_with("mad"), isSub = name.starts_with("sub");
  if (form.take("cc"))
    decoded.flag |= kCarryOut;
  if (name == "addc" || name == "subc" || name == "madc")
    decoded.flag |= kCarryIn;
  IntOp op = isSub ? IntOp::CarrySub : IntOp::CarryAdd;
  if (isMad) {
    int part = form.takeOneOf({"lo", "hi"});
    if (part < 0)
      return decoder.fail("'" + decoder.in().form() + "' needs .lo or .hi");
    op = part ? IntOp::CarryMadHi : IntOp::CarryMadLo;
  }
  size_t operands = isMad ? 4 : 3;
  if (!decoder.expectOperands(operands, operands) || !decoder.destination(decoder.in().operands[0], type, decoded.d) ||
      !decoder.source(decoder.in().operands[1], type, decoded.a) ||
      !decoder.source(decoder.in().operands[2], type, decoded.b) ||
      (isMad && !decoder.source(decoder.in().operands[3], type, decoded.c)))
    return false;
  decoded.e = decoder.carryRegister();
  decoded.handler = handlers().integer(op, type);
  return decoder.finish(form, decoded);
}

/// add, sub
bool decodeAdd(Decoder &decoder) {
  Form form(decoder.in());
  bool isAdd = decoder.in().opcode == "add";
  ScalarType type = form.takeType();
  if (isFloat(type) || type == ScalarType::F32x2) {
    FloatForm floatForm{isAdd ? FloatOp::Add : FloatOp::Sub, type, form.takeRounding(), form.take("ftz"),
                        form.take("sat")};
    if (ScalarType narrow = takeNarrow(form, type); narrow != ScalarType::None)
      return emitMixed(decoder, form, floatForm, narrow, 2);
    return emitFloat(decoder, form, floatForm, 2);
  }
  if (form.take("cc"))
    return decodeCarry(decoder);
  if (isBits(type))
    return decoder.unsupported("it has no meaning for '" + std::string(ptx::spelling(type)) + "'");
  bool sat = form.take("sat");
  if (sat && type != ScalarType::S32)
    return decoder.unsupported("'.sat' is for .s32");
  IntOp op = sat ? (isAdd ? IntOp::AddSat : IntOp::SubSat) : (isAdd ? IntOp::Add : IntOp::Sub);
  return emitInteger(decoder, form, op, type, 2);
}

/// mul, mad
bool decodeMul(Decoder &decoder) {
  Form form(decoder.in());
  bool isMad = decoder.in().opcode == "mad";
  ScalarType type = form.takeType();
  if (isFloat(type) || (type == ScalarType::F32x2 && !isMad)) {
    FloatForm floatForm{isMad ? FloatOp::Fma : FloatOp::Mul, type, form.takeRounding(), form.take("ftz"),
                        form.take("sat")};
    return emitFloat(decoder, form, floatForm, isMad ? 3 : 2);
  }
  if (!isInteger(type))
    return decoder.unsupported();
  if (decoder.in().hasModifier("cc"))
    return decodeCarry(decoder);
  int part = form.takeOneOf({"lo", "hi", "wide"});
  if (part < 0)
    return decoder.fail("'" + decoder.in().form() + "' needs .lo, .hi or .wide");
  if (part == 2) {
    ScalarType result = wider(type);
    Decoded decoded;
    if (result == ScalarType::None)
      return decoder.unsupported();
    if (!decoder.expectOperands(isMad ? 4 : 3, isMad ? 4 : 3) ||
        !decoder.destination(decoder.in().operands[0], result, decoded.d) ||
        !decoder.source(decoder.in().operands[1], type, decoded.a) ||
        !decoder.source(decoder.in().operands[2], type, decoded.b) ||
        (isMad && !decoder.source(decoder.in().operands[3], result, decoded.c)))
      return false;
    decoded.handler = handlers().integer(isMad ? IntOp::MadWide : IntOp::MulWide, type);
    return decoder.finish(form, decoded);
  }
  if (isMad && form.take("sat")) {
    if (part != 1 || type != ScalarType::S32)
      return decoder.unsupported("'.sat' is for mad.hi.s32");
    return emitInteger(decoder, form, IntOp::MadHiSat, type, 3);
  }
  IntOp op = isMad ? (part ? IntOp::MadHi : IntOp::MadLo) : (part ? IntOp::MulHi : IntOp::MulLo);
  return emitInteger(decoder, form, op, type, isMad ? 3 : 2);
}

bool decodeMul24(Decoder &decoder) {
  Form form(decoder.in());
  bool isMad = decoder.in().opcode == "mad24";
  ScalarType type = form.takeType();
  if (type != ScalarType::U32 && type != ScalarType::S32)
    return decoder.unsupported();
  int part = form.takeOneOf({"lo", "hi"});
  if (part < 0)
    return decoder.fail("'" + decoder.in().form() + "' needs .lo or .hi");
  bool sat = isMad && part == 1 && type == ScalarType::S32 && form.take("sat");
  IntOp op = sat     ? IntOp::Mad24HiSat
             : isMad ? (part ? IntOp::Mad24Hi : IntOp::Mad24Lo)
                     : (part ? IntOp::Mul24Hi : IntOp::Mul24Lo);
  return emitInteger(decoder, form, op, type, isMad ? 3 : 2);
}

bool decodeFma(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  FloatForm floatForm{FloatOp::Fma, type, form.takeRounding(), form.take("ftz"), form.take("sat")};
  if (floatForm.rounding == Rounding::None)
    return decoder.fail("'" + decoder.in().form() + "' needs a rounding modifier");
  if (ScalarType narrow = takeNarrow(form, type); narrow != ScalarType::None)
    return emitMixed(decoder, form, floatForm, narrow, 3);
  if (isHalf(type) && form.take("relu"))
    floatForm.op = FloatOp::FmaRelu;
  return emitFloat(decoder, form, floatForm, 3);
}

/// sad, rem, cnot
bool decodeIntegerOnly(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  if (decoder.in().opcode == "cnot")
    return isBits(type) ? emitInteger(decoder, form, IntOp::Cnot, type, 1) : decoder.unsupported();
  if (!isInteger(type))
    return decoder.unsupported();
  return decoder.in().opcode == "sad" ? emitInteger(decoder, form, IntOp::Sad, type, 3)
                                      : emitInteger(decoder, form, IntOp::Rem, type, 2);
}

bool decodeMinMax(Decoder &decoder) {
  Form form(decoder.in());
  bool isMin = decoder.in().opcode == "min";
  ScalarType type = form.takeType();
  if (!isFloat(type)) {
    bool relu = form.take("relu");
    if (relu && type != ScalarType::S32 && type != ScalarType::S16x2)
      return decoder.unsupported("'.relu' is for .s32 and .s16x2");
    return emitInteger(decoder, form,
                       relu ? (isMin ? IntOp::MinRelu : IntOp::MaxRelu) : (isMin ? IntOp::Min : IntOp::Max), type, 2);
  }
  bool nan = form.take("NaN"), xorsign = form.take("xorsign");
  if (xorsign && !form.take("abs"))
    return decoder.unsupported("'.xorsign' needs '.abs'");
  FloatOp op = isMin ? (nan ? FloatOp::MinNan : FloatOp::Min) : (nan ? FloatOp::MaxNan : FloatOp::Max);
  if (xorsign)
    op = isMin ? (nan ? FloatOp::MinNanXorsignAbs : FloatOp::MinXorsignAbs)
               : (nan ? FloatOp::MaxNanXorsignAbs : FloatOp::MaxXorsignAbs);
  FloatForm floatForm{op, type, Rounding::None, form.take("ftz"), false};
  return emitFloat(decoder, form, floatForm, 2);
}

/// abs, neg
bool decodeSign(Decoder &decoder) {
  Form form(decoder.in());
  bool isAbs = decoder.in().opcode == "abs";
  ScalarType type = form.takeType();
  if (isFloat(type)) {
    FloatForm floatForm{isAbs ? FloatOp::Abs : FloatOp::Neg, type, Rounding::None, form.take("ftz"), false};
    return emitFloat(decoder, form, floatForm, 1);
  }
  return isSigned(type) ? emitInteger(decoder, form, isAbs ? IntOp::Abs : IntOp::Neg, type, 1) : decoder.unsupported();
}

bool decodeDivide(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  if (!isSingleOrDouble(type))
    return isInteger(type) ? emitInteger(decoder, form, IntOp::Div, type, 2) : decoder.unsupported();
  FloatForm floatForm{FloatOp::Div, type, Rounding::None, form.take("ftz"), false};
  if (type == ScalarType::F32 && form.take("approx"))
    floatForm.op = FloatOp::DivApprox;
  else if (type == ScalarType::F32 && form.take("full"))
    floatForm.op = FloatOp::DivFull;
  else if ((floatForm.rounding = form.takeRounding()) == Rounding::None)
    return decoder.fail("'" + decoder.in().form() + "' needs .approx, .full or a rounding modifier");
  return emitFloat(decoder, form, floatForm, 2);
}

/// rcp sqrt rsqrt sin cos lg2 ex2 tanh
bool decodeApproximate(Decoder &decoder) {
  Form form(decoder.in());
  std::string_view name = decoder.in().opcode;
  ScalarType type = form.takeType();
  FloatForm floatForm{FloatOp::Rcp, type, Rounding::None, form.take("ftz"), false};
  bool approx = form.take("approx");
  bool canRound = name == "rcp" || name == "sqrt";
  if (!approx) {
    if (!canRound || (floatForm.rounding = form.takeRounding()) == Rounding::None)
      return decoder.fail("'" + decoder.in().form() + "' needs .approx" + (canRound ? " or a rounding modifier" : ""));
    floatForm.op = name == "rcp" ? FloatOp::Rcp : FloatOp::Sqrt;
  } else if (name == "rcp")
    floatForm.op = FloatOp::RcpApprox;
  else if (name == "sqrt")
    floatForm.op = FloatOp::SqrtApprox;
  else if (name == "rsqrt")
    floatForm.op = FloatOp::RsqrtApprox;
  else if (name == "sin")
    floatForm.op = FloatOp::Sin;
  else if (name == "cos")
    floatForm.op = FloatOp::Cos;
  else if (name == "lg2")
    floatForm.op = FloatOp::Lg2;
  else if (name == "ex2")
    floatForm.op = FloatOp::Ex2;
  else
    floatForm.op = FloatOp::Tanh;
  return emitFloat(decoder, form, floatForm, 1);
}

bool decodeCopysign(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  if (!isSingleOrDouble(type))
    return decoder.unsupported();
  return emitFloat(decoder, form, {FloatOp::Copysign, type}, 2);
}

bool decodeTestp(Decoder &decoder) {
  Form form(decoder.in());
  int property = form.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  ScalarType type = form.takeType();
  if (property < 0)
    return decoder.unsupported();
  Decoded decoded;
  if (!decoder.predicateDestination(decoder.in().operands[0], decoded.d) ||
      !decoder.source(decoder.in().operands[1], type, decoded.a))
    return false;
  decoded.handler = handlers().testp(static_cast<TestProperty>(property), type);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family arithmetic() {
  static constexpr Opcode kRows[] = {
      {"add", &decodeAdd},           {"sub", &decodeAdd},
      {"addc", &decodeCarry},        {"subc", &decodeCarry},
      {"madc", &decodeCarry},        {"mul", &decodeMul},
      {"mad", &decodeMul},           {"mul24", &decodeMul24},
      {"mad24", &decodeMul24},       {"fma", &decodeFma},
      {"sad", &decodeIntegerOnly},   {"rem", &decodeIntegerOnly},
      {"cnot", &decodeIntegerOnly},  {"min", &decodeMinMax},
      {"max", &decodeMinMax},        {"abs", &decodeSign},
      {"neg", &decodeSign},          {"div", &decodeDivide},
      {"rcp", &decodeApproximate},   {"sqrt", &decodeApproximate},
      {"rsqrt", &decodeApproximate}, {"sin", &decodeApproximate},
      {"cos", &decodeApproximate},   {"lg2", &decodeApproximate},
      {"ex2", &decodeApproximate},   {"tanh", &decodeApproximate},
      {"copysign", &decodeCopysign}, {"testp", &decodeTestp, {}, {2, 2}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
