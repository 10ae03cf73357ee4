// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic: which operation, types and modifiers, and from these the handler.
#include "emulator/decode/decoder.h"
#include "ptx/scalar_type.h"

#include <algorithm>

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

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
} // namespace

bool FunctionDecoder::emitFloat(Form &form, FloatForm floatForm, uint32_t sources) {
  Decoded decoded;
  ScalarType type = floatForm.type;
  if (!expectOperands(sources + 1, sources + 1) || !destination(in_->operands[0], type, decoded.d) ||
      !source(in_->operands[1], type, decoded.a) || (sources > 1 && !source(in_->operands[2], type, decoded.b)) ||
      (sources > 2 && !source(in_->operands[3], type, decoded.c)))
    return false;
  decoded.handler = isHalf(type) ? handlers().half(floatForm) : handlers().floating(floatForm);
  return finish(form, decoded);
}

bool FunctionDecoder::emitInteger(Form &form, IntOp op, ScalarType type, uint32_t sources) {
  Decoded decoded;
  if (!expectOperands(sources + 1, sources + 1) || !destination(in_->operands[0], type, decoded.d) ||
      !source(in_->operands[1], type, decoded.a) || (sources > 1 && !source(in_->operands[2], type, decoded.b)) ||
      (sources > 2 && !source(in_->operands[3], type, decoded.c)))
    return false;
  decoded.handler = handlers().integer(op, type);
  return finish(form, decoded);
}

/// add, sub
bool FunctionDecoder::decodeAdd() {
  Form form(*in_);
  bool isAdd = in_->opcode == "add";
  ScalarType type = form.takeType();
  if (isFloat(type)) {
    FloatForm floatForm{isAdd ? FloatOp::Add : FloatOp::Sub, type, form.takeRounding(), form.take("ftz"),
                        form.take("sat")};
    return emitFloat(form, floatForm, 2);
  }
  if (form.take("cc"))
    return decodeCarry();
  if (isBits(type))
    return unsupported("it has no meaning for '" + std::string(ptx::spelling(type)) + "'");
  bool sat = form.take("sat");
  if (sat && type != ScalarType::S32)
    return unsupported("'.sat' is for .s32");
  IntOp op = sat ? (isAdd ? IntOp::AddSat : IntOp::SubSat) : (isAdd ? IntOp::Add : IntOp::Sub);
  return emitInteger(form, op, type, 2);
}

/// mul, mad
bool FunctionDecoder::decodeMul() {
  Form form(*in_);
  bool isMad = in_->opcode == "mad";
  ScalarType type = form.takeType();
  if (isFloat(type)) {
    FloatForm floatForm{isMad ? FloatOp::Fma : FloatOp::Mul, type, form.takeRounding(), form.take("ftz"),
                        form.take("sat")};
    return emitFloat(form, floatForm, isMad ? 3 : 2);
  }
  if (!isInteger(type))
    return unsupported();
  if (in_->hasModifier("cc"))
    return decodeCarry();
  int part = form.takeOneOf({"lo", "hi", "wide"});
  if (part < 0)
    return fail("'" + in_->form() + "' needs .lo, .hi or .wide");
  if (part == 2) {
    ScalarType result = wider(type);
    Decoded decoded;
    if (result == ScalarType::None)
      return unsupported();
    if (!expectOperands(isMad ? 4 : 3, isMad ? 4 : 3) || !destination(in_->operands[0], result, decoded.d) ||
        !source(in_->operands[1], type, decoded.a) || !source(in_->operands[2], type, decoded.b) ||
        (isMad && !source(in_->operands[3], result, decoded.c)))
      return false;
    decoded.handler = handlers().integer(isMad ? IntOp::MadWide : IntOp::MulWide, type);
    return finish(form, decoded);
  }
  if (isMad && form.take("sat")) {
    if (part != 1 || type != ScalarType::S32)
      return unsupported("'.sat' is for mad.hi.s32");
    return emitInteger(form, IntOp::MadHiSat, type, 3);
  }
  IntOp op = isMad ? (part ? IntOp::MadHi : IntOp::MadLo) : (part ? IntOp::MulHi : IntOp::MulLo);
  return emitInteger(form, op, type, isMad ? 3 : 2);
}

bool FunctionDecoder::decodeMul24() {
  Form form(*in_);
  bool isMad = in_->opcode == "mad24";
  ScalarType type = form.takeType();
  if (type != ScalarType::U32 && type != ScalarType::S32)
    return unsupported();
  int part = form.takeOneOf({"lo", "hi"});
  if (part < 0)
    return fail("'" + in_->form() + "' needs .lo or .hi");
  bool sat = isMad && part == 1 && type == ScalarType::S32 && form.take("sat");
  IntOp op = sat     ? IntOp::Mad24HiSat
             : isMad ? (part ? IntOp::Mad24Hi : IntOp::Mad24Lo)
                     : (part ? IntOp::Mul24Hi : IntOp::Mul24Lo);
  return emitInteger(form, op, type, isMad ? 3 : 2);
}

bool FunctionDecoder::decodeFma() {
  Form form(*in_);
  ScalarType type = form.takeType();
  FloatForm floatForm{FloatOp::Fma, type, form.takeRounding(), form.take("ftz"), form.take("sat")};
  if (floatForm.rounding == Rounding::None)
    return fail("'" + in_->form() + "' needs a rounding modifier");
  if (isHalf(type) && form.take("relu"))
    floatForm.op = FloatOp::FmaRelu;
  return emitFloat(form, floatForm, 3);
}

/// add.cc addc sub.cc subc mad.cc madc: through the carry mask of the frame.
bool FunctionDecoder::decodeCarry() {
  Form form(*in_);
  std::string_view name = in_->opcode;
  ScalarType type = form.takeType();
  if (type != ScalarType::U32 && type != ScalarType::S32 && type != ScalarType::U64 && type != ScalarType::S64)
    return unsupported();
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
      return fail("'" + in_->form() + "' needs .lo or .hi");
    op = part ? IntOp::CarryMadHi : IntOp::CarryMadLo;
  }
  size_t operands = isMad ? 4 : 3;
  if (!expectOperands(operands, operands) || !destination(in_->operands[0], type, decoded.d) ||
      !source(in_->operands[1], type, decoded.a) || !source(in_->operands[2], type, decoded.b) ||
      (isMad && !source(in_->operands[3], type, decoded.c)))
    return false;
  if (code_.carry == kNoOperand)
    code_.carry = allocateRegister(0);
  decoded.e = code_.carry;
  decoded.handler = handlers().integer(op, type);
  return finish(form, decoded);
}

/// sad, rem, cnot
bool FunctionDecoder::decodeIntegerOnly() {
  Form form(*in_);
  ScalarType type = form.takeType();
  if (in_->opcode == "cnot")
    return isBits(type) ? emitInteger(form, IntOp::Cnot, type, 1) : unsupported();
  if (!isInteger(type))
    return unsupported();
  return in_->opcode == "sad" ? emitInteger(form, IntOp::Sad, type, 3) : emitInteger(form, IntOp::Rem, type, 2);
}

bool FunctionDecoder::decodeMinMax() {
  Form form(*in_);
  bool isMin = in_->opcode == "min";
  ScalarType type = form.takeType();
  if (!isFloat(type)) {
    bool relu = form.take("relu");
    if (relu && type != ScalarType::S32 && type != ScalarType::S16x2)
      return unsupported("'.relu' is for .s32 and .s16x2");
    return emitInteger(form, relu ? (isMin ? IntOp::MinRelu : IntOp::MaxRelu) : (isMin ? IntOp::Min : IntOp::Max), type,
                       2);
  }
  bool nan = form.take("NaN"), xorsign = form.take("xorsign");
  if (xorsign && !form.take("abs"))
    return unsupported("'.xorsign' needs '.abs'");
  FloatOp op = isMin ? (nan ? FloatOp::MinNan : FloatOp::Min) : (nan ? FloatOp::MaxNan : FloatOp::Max);
  if (xorsign)
    op = isMin ? (nan ? FloatOp::MinNanXorsignAbs : FloatOp::MinXorsignAbs)
               : (nan ? FloatOp::MaxNanXorsignAbs : FloatOp::MaxXorsignAbs);
  FloatForm floatForm{op, type, Rounding::None, form.take("ftz"), false};
  return emitFloat(form, floatForm, 2);
}

/// abs, neg
bool FunctionDecoder::decodeSign() {
  Form form(*in_);
  bool isAbs = in_->opcode == "abs";
  ScalarType type = form.takeType();
  if (isFloat(type)) {
    FloatForm floatForm{isAbs ? FloatOp::Abs : FloatOp::Neg, type, Rounding::None, form.take("ftz"), false};
    return emitFloat(form, floatForm, 1);
  }
  return isSigned(type) ? emitInteger(form, isAbs ? IntOp::Abs : IntOp::Neg, type, 1) : unsupported();
}

bool FunctionDecoder::decodeDivide() {
  Form form(*in_);
  ScalarType type = form.takeType();
  if (!isSingleOrDouble(type))
    return isInteger(type) ? emitInteger(form, IntOp::Div, type, 2) : unsupported();
  FloatForm floatForm{FloatOp::Div, type, Rounding::None, form.take("ftz"), false};
  if (type == ScalarType::F32 && form.take("approx"))
    floatForm.op = FloatOp::DivApprox;
  else if (type == ScalarType::F32 && form.take("full"))
    floatForm.op = FloatOp::DivFull;
  else if ((floatForm.rounding = form.takeRounding()) == Rounding::None)
    return fail("'" + in_->form() + "' needs .approx, .full or a rounding modifier");
  return emitFloat(form, floatForm, 2);
}

/// rcp sqrt rsqrt sin cos lg2 ex2 tanh
bool FunctionDecoder::decodeApproximate() {
  Form form(*in_);
  std::string_view name = in_->opcode;
  ScalarType type = form.takeType();
  FloatForm floatForm{FloatOp::Rcp, type, Rounding::None, form.take("ftz"), false};
  bool approx = form.take("approx");
  bool canRound = name == "rcp" || name == "sqrt";
  if (!approx) {
    if (!canRound || (floatForm.rounding = form.takeRounding()) == Rounding::None)
      return fail("'" + in_->form() + "' needs .approx" + (canRound ? " or a rounding modifier" : ""));
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
  return emitFloat(form, floatForm, 1);
}

bool FunctionDecoder::decodeCopysign() {
  Form form(*in_);
  ScalarType type = form.takeType();
  if (!isSingleOrDouble(type))
    return unsupported();
  return emitFloat(form, {FloatOp::Copysign, type}, 2);
}

bool FunctionDecoder::decodeTestp() {
  Form form(*in_);
  int property = form.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  ScalarType type = form.takeType();
  if (property < 0)
    return unsupported();
  Decoded decoded;
  if (!expectOperands(2, 2) || !predicateDestination(in_->operands[0], decoded.d) ||
      !source(in_->operands[1], type, decoded.a))
    return false;
  decoded.handler = handlers().testp(static_cast<TestProperty>(property), type);
  return finish(form, decoded);
}

} // namespace tenon::emulator
