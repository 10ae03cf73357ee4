// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic, shifts, bit fields, permutations and dot products of bytes.
#include "emulator/decode/decoder.h"
#include "emulator/decode/families/arithmetic_forms.h"
#include "emulator/decode/opcode.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// and or xor not
bool decodeLogic(Decoder &decoder) {
  Form form(decoder.in());
  std::string_view name = decoder.in().opcode;
  ScalarType type = form.takeType();
  if (!isBits(type) && type != ScalarType::Pred)
    return decoder.unsupported();
  IntOp op = name == "and" ? IntOp::And : name == "or" ? IntOp::Or : name == "xor" ? IntOp::Xor : IntOp::Not;
  return emitInteger(decoder, form, op, type, op == IntOp::Not ? 1 : 2);
}

bool decodeShift(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  bool left = decoder.in().opcode == "shl";
  if (ptx::byteSize(type) < 2 || isFloat(type) || (left && !isBits(type)))
    return decoder.unsupported();
  Decoded decoded;
  if (!decoder.destination(decoder.in().operands[0], type, decoded.d) ||
      !decoder.source(decoder.in().operands[1], type, decoded.a) ||
      !decoder.source(decoder.in().operands[2], ScalarType::U32, decoded.b))
    return false;
  decoded.handler = handlers().integer(left ? IntOp::Shl : IntOp::Shr, type);
  return decoder.finish(form, decoded);
}

/// popc clz brev bfind: the result is 32 bits wide, brev's as wide as its operand.
bool decodeBits(Decoder &decoder) {
  Form form(decoder.in());
  std::string_view name = decoder.in().opcode;
  ScalarType type = form.takeType();
  IntOp op = name == "popc" ? IntOp::Popc : name == "clz" ? IntOp::Clz : name == "brev" ? IntOp::Brev : IntOp::Bfind;
  bool isBfind = op == IntOp::Bfind;
  if (ptx::byteSize(type) < 4 || isFloat(type) || (isBfind ? !isInteger(type) : !isBits(type)))
    return decoder.unsupported();
  if (isBfind && form.take("shiftamt"))
    op = IntOp::BfindShift;
  Decoded decoded;
  if (!decoder.destination(decoder.in().operands[0], op == IntOp::Brev ? type : ScalarType::U32, decoded.d) ||
      !decoder.source(decoder.in().operands[1], type, decoded.a))
    return false;
  decoded.handler = handlers().integer(op, type);
  return decoder.finish(form, decoded);
}

/// bfi d, a, b, position, length
bool decodeInsert(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  if (!isBits(type) || ptx::byteSize(type) < 4)
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], type, decoded.b) || !decoder.source(o[3], ScalarType::U32, decoded.c) ||
      !decoder.source(o[4], ScalarType::U32, decoded.e))
    return false;
  decoded.handler = handlers().integer(IntOp::Bfi, type);
  return decoder.finish(form, decoded);
}

/// bfe d, a, position, length; fns d, mask, base, offset
bool decodeExtract(Decoder &decoder) {
  Form form(decoder.in());
  bool isBfe = decoder.in().opcode == "bfe";
  ScalarType type = form.takeType();
  if (ptx::byteSize(type) < 4 || (isBfe ? !isInteger(type) : type != ScalarType::B32))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.b) || !decoder.source(o[3], ScalarType::U32, decoded.c))
    return false;
  decoded.handler = handlers().integer(isBfe ? IntOp::Bfe : IntOp::Fns, type);
  return decoder.finish(form, decoded);
}

/// bmsk.{clamp,wrap}.b32 d, a, b
bool decodeMask(Decoder &decoder) {
  Form form(decoder.in());
  int mode = form.takeOneOf({"clamp", "wrap"});
  if (mode < 0)
    return decoder.fail("'" + decoder.in().form() + "' needs .clamp or .wrap");
  if (form.takeType() != ScalarType::B32)
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.destination(o[0], ScalarType::B32, decoded.d) || !decoder.source(o[1], ScalarType::B32, decoded.a) ||
      !decoder.source(o[2], ScalarType::B32, decoded.b))
    return false;
  decoded.handler = handlers().integer(mode ? IntOp::BmskWrap : IntOp::BmskClamp, ScalarType::B32);
  return decoder.finish(form, decoded);
}

/// szext.{clamp,wrap}.{u32,s32} d, a, b
bool decodeExtend(Decoder &decoder) {
  Form form(decoder.in());
  int mode = form.takeOneOf({"clamp", "wrap"});
  ScalarType type = form.takeType();
  if (mode < 0)
    return decoder.fail("'" + decoder.in().form() + "' needs .clamp or .wrap");
  if (type != ScalarType::U32 && type != ScalarType::S32)
    return decoder.unsupported();
  return emitInteger(decoder, form, mode ? IntOp::SzextWrap : IntOp::SzextClamp, type, 2);
}

bool decodePrmt(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  if (type != ScalarType::B32)
    return decoder.unsupported();
  constexpr IntOp kModes[] = {IntOp::PrmtF4e, IntOp::PrmtB4e, IntOp::PrmtRc8,
                              IntOp::PrmtEcl, IntOp::PrmtEcr, IntOp::PrmtRc16};
  int mode = form.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  return emitInteger(decoder, form, mode < 0 ? IntOp::Prmt : kModes[mode], type, 3);
}

/// lop3.b32 d, a, b, c, table; lop3.{and,or}.b32 d|p, a, b, c, table, q: p is (d is not zero) combined with q.
bool decodeLop3(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded, test;
  const ptx::List<Operand> &o = decoder.in().operands;
  int combine = form.takeOneOf({"and", "or"});
  uint32_t count = combine < 0 ? 5 : 6;
  if (form.takeType() != ScalarType::B32)
    return decoder.unsupported();
  if (!decoder.expectOperands(count, count))
    return false;
  bool negated = false, isPair = o[0].kind == Operand::Kind::Pair;
  if (isPair != (combine >= 0))
    return decoder.fail("'" + decoder.in().form() +
                        "' has a predicate beside its result if and only if it has '.and' or '.or'");
  const Operand &result = isPair ? o[0].elements[0] : o[0];
  if (result.kind == Operand::Kind::Sink)
    decoded.d = decoder.allocateRegister(4);
  else if (!decoder.destination(result, ScalarType::B32, decoded.d))
    return false;
  if (!decoder.source(o[1], ScalarType::B32, decoded.a) || !decoder.source(o[2], ScalarType::B32, decoded.b) ||
      !decoder.source(o[3], ScalarType::B32, decoded.c))
    return false;
  if (o[4].kind != Operand::Kind::Integer || o[4].bits > 255)
    return decoder.fail("the table of 'lop3' is a constant from 0 to 255");
  decoded.imm = static_cast<int64_t>(o[4].bits);
  decoded.handler = handlers().integer(IntOp::Lop3, ScalarType::B32);
  if (!isPair)
    return decoder.finish(form, decoded);
  if (!decoder.predicateDestination(o[0].elements[1], test.d) || !decoder.predicateSource(o[5], test.c, negated))
    return false;
  decoder.emit(decoded);
  BoolOp op = combine == 0 ? BoolOp::And : BoolOp::Or;
  test.a = decoded.d;
  test.b = decoder.constant(0, 4);
  test.flag = static_cast<uint8_t>(static_cast<uint8_t>(op) | (negated ? kThirdNegated : 0));
  test.handler = handlers().compare(Comparison::Ne, ScalarType::B32, false);
  return decoder.finish(form, test);
}

bool decodeShf(Decoder &decoder) {
  Form form(decoder.in());
  int direction = form.takeOneOf({"l", "r"}), mode = form.takeOneOf({"clamp", "wrap"});
  if (form.takeType() != ScalarType::B32 || direction < 0 || mode < 0)
    return decoder.unsupported();
  IntOp op = direction == 0 ? (mode ? IntOp::ShfLeftWrap : IntOp::ShfLeftClamp)
                            : (mode ? IntOp::ShfRightWrap : IntOp::ShfRightClamp);
  return emitInteger(decoder, form, op, ScalarType::B32, 3);
}

/// dp4a, dp2a
bool decodeDot(Decoder &decoder) {
  Form form(decoder.in());
  IntOp op = IntOp::Dp4a;
  if (decoder.in().opcode == "dp2a") {
    int part = form.takeOneOf({"lo", "hi"});
    if (part < 0)
      return decoder.fail("'" + decoder.in().form() + "' needs .lo or .hi");
    op = part ? IntOp::Dp2aHi : IntOp::Dp2aLo;
  }
  ScalarType a = form.takeType(), b = form.takeType();
  auto word = [](ScalarType type) { return type == ScalarType::U32 || type == ScalarType::S32; };
  if (!word(a) || !word(b))
    return decoder.unsupported();
  Decoded decoded;
  decoded.imm = (a == ScalarType::S32) | (b == ScalarType::S32) << 1;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.destination(o[0], ScalarType::U32, decoded.d) || !decoder.source(o[1], ScalarType::U32, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.b) || !decoder.source(o[3], ScalarType::U32, decoded.c))
    return false;
  decoded.handler = handlers().integer(op, ScalarType::U32);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family bits() {
  static constexpr Opcode kRows[] = {
      {"and", &decodeLogic},
      {"or", &decodeLogic},
      {"xor", &decodeLogic},
      {"not", &decodeLogic},
      {"shl", &decodeShift, {}, {3, 3}},
      {"shr", &decodeShift, {}, {3, 3}},
      {"popc", &decodeBits, {}, {2, 2}},
      {"clz", &decodeBits, {}, {2, 2}},
      {"brev", &decodeBits, {}, {2, 2}},
      {"bfind", &decodeBits, {}, {2, 2}},
      {"bfe", &decodeExtract, {}, {4, 4}},
      {"bfi", &decodeInsert, {}, {5, 5}},
      {"bmsk", &decodeMask, {}, {3, 3}},
      {"szext", &decodeExtend, {}, {3, 3}},
      {"fns", &decodeExtract, {}, {4, 4}},
      {"prmt", &decodePrmt},
      {"lop3", &decodeLop3},
      {"shf", &decodeShf},
      {"dp4a", &decodeDot, {}, {4, 4}},
      {"dp2a", &decodeDot, {}, {4, 4}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
