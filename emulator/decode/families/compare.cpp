// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set, selp and slct: comparisons, and choices by their results.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// The bits of 1.0.
uint64_t one(ScalarType type) {
  switch (type) {
  case ScalarType::F32:
    return 0x3f800000;
  case ScalarType::F16:
  case ScalarType::F16x2:
    return 0x3c00;
  case ScalarType::BF16:
  case ScalarType::BF16x2:
    return 0x3f80;
  default:
    return 0xffffffff;
  }
}

/// The comparison and its boolean operator; the third predicate is the last of four operands.
bool comparison(Decoder &decoder, Form &form, Comparison &comparison, Decoded &decoded) {
  int index = form.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
                              "nan", "lo", "ls", "hi", "hs"});
  if (index < 0)
    return decoder.fail("'" + decoder.in().form() + "' names no comparison");
  constexpr Comparison kUnsigned[] = {Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge};
  comparison = index < 14 ? static_cast<Comparison>(index) : kUnsigned[index - 14];
  int op = form.takeOneOf({"and", "or", "xor"});
  if ((op >= 0) != (decoder.in().operands.size() == 4))
    return decoder.fail("'" + decoder.in().form() + "' takes " + (op >= 0 ? "four" : "three") + " operands, found " +
                        std::to_string(decoder.in().operands.size()));
  if (op >= 0) {
    bool negated = false;
    if (!decoder.predicateSource(decoder.in().operands[3], decoded.c, negated))
      return false;
    decoded.flag = static_cast<uint8_t>((op + 1) | (negated ? kThirdNegated : 0));
  }
  return true;
}

bool decodeSetp(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  Comparison relation;
  if (!comparison(decoder, form, relation, decoded))
    return false;
  bool ftz = form.take("ftz");
  ScalarType type = form.takeType();
  const ptx::List<Operand> &o = decoder.in().operands;
  const Operand *first = &o[0], *second = nullptr;
  if (o[0].kind == Operand::Kind::Pair) {
    first = &o[0].elements[0];
    second = &o[0].elements[1];
  }
  if (isBits(type) && relation != Comparison::Eq && relation != Comparison::Ne)
    return decoder.unsupported("untyped bits compare equal or not equal only");
  if (!decoder.predicateDestination(*first, decoded.d) ||
      (second && !decoder.predicateDestination(*second, decoded.e)) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], type, decoded.b))
    return false;
  if (isHalf(type)) {
    decoded.imm = static_cast<int64_t>(relation) | static_cast<int64_t>(ftz) << 8;
    decoded.handler = handlers().halfCompare(relation, type, ftz);
  } else {
    decoded.handler = handlers().compare(relation, type, ftz);
  }
  return decoder.finish(form, decoded);
}

bool decodeSet(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  Comparison relation;
  if (!comparison(decoder, form, relation, decoded))
    return false;
  bool ftz = form.take("ftz");
  ScalarType result = form.takeType(), type = form.takeType();
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.destination(o[0], result, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], type, decoded.b))
    return false;
  uint64_t truth = isFloat(result) ? one(result) : 0xffffffff;
  if (isHalf(type)) {
    decoded.imm = static_cast<int64_t>(static_cast<uint64_t>(relation) | static_cast<uint64_t>(ftz) << 8 |
                                       (truth & 0xffff) << 16 | truth << 32);
    decoded.handler = handlers().halfSet(relation, type, ftz, result);
  } else {
    decoded.imm = static_cast<int64_t>(truth);
    decoded.handler = handlers().set(relation, type, ftz, result);
  }
  return decoder.finish(form, decoded);
}

bool decodeSelp(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  uint32_t bytes = ptx::byteSize(type);
  Decoded decoded;
  bool negated = false;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (bytes < 2 || bytes > 8 || type == ScalarType::Pred)
    return decoder.unsupported();
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], type, decoded.b) || !decoder.predicateSource(o[3], decoded.c, negated))
    return false;
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.handler = handlers().integer(IntOp::Select, bytes == 2   ? ScalarType::B16
                                                      : bytes == 4 ? ScalarType::B32
                                                                   : ScalarType::B64);
  return decoder.finish(form, decoded);
}

bool decodeSlct(Decoder &decoder) {
  Form form(decoder.in());
  bool ftz = form.take("ftz");
  ScalarType type = form.takeType(), selector = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (selector != ScalarType::S32 && selector != ScalarType::F32)
    return decoder.unsupported();
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], type, decoded.b) || !decoder.source(o[3], selector, decoded.c))
    return false;
  decoded.flag = ftz && selector == ScalarType::F32;
  decoded.handler = slctHandler(type, selector, ftz);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family compare() {
  static constexpr Opcode kRows[] = {
      {"setp", &decodeSetp, {}, {3, 4}},
      {"set", &decodeSet, {}, {3, 4}},
      {"selp", &decodeSelp, {}, {4, 4}},
      {"slct", &decodeSlct, {}, {4, 4}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
