// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set, selp and slct: comparisons, and choices by their results.
#include "emulator/decode/decoder.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

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

} // namespace

/// The comparison and its boolean operator; the third predicate is the last of four operands.
bool FunctionDecoder::comparison(Form &form, Comparison &comparison, Decoded &decoded) {
  int index = form.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
                              "nan", "lo", "ls", "hi", "hs"});
  if (index < 0)
    return fail("'" + in_->form() + "' names no comparison");
  constexpr Comparison kUnsigned[] = {Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge};
  comparison = index < 14 ? static_cast<Comparison>(index) : kUnsigned[index - 14];
  int op = form.takeOneOf({"and", "or", "xor"});
  if ((op >= 0) != (in_->operands.size() == 4))
    return fail("'" + in_->form() + "' takes " + (op >= 0 ? "four" : "three") + " operands, found " +
                std::to_string(in_->operands.size()));
  if (op >= 0) {
    bool negated = false;
    if (!predicateSource(in_->operands[3], decoded.c, negated))
      return false;
    decoded.flag = static_cast<uint8_t>((op + 1) | (negated ? kThirdNegated : 0));
  }
  return true;
}

bool FunctionDecoder::decodeSetp() {
  Form form(*in_);
  Decoded decoded;
  Comparison relation;
  if (!comparison(form, relation, decoded))
    return false;
  bool ftz = form.take("ftz");
  ScalarType type = form.takeType();
  const ptx::List<Operand> &o = in_->operands;
  const Operand *first = &o[0], *second = nullptr;
  if (o[0].kind == Operand::Kind::Pair) {
    first = &o[0].elements[0];
    second = &o[0].elements[1];
  }
  if (isBits(type) && relation != Comparison::Eq && relation != Comparison::Ne)
    return unsupported("untyped bits compare equal or not equal only");
  if (!predicateDestination(*first, decoded.d) || (second && !predicateDestination(*second, decoded.e)) ||
      !source(o[1], type, decoded.a) || !source(o[2], type, decoded.b))
    return false;
  if (isHalf(type)) {
    decoded.imm = static_cast<int64_t>(relation) | static_cast<int64_t>(ftz) << 8;
    decoded.handler = handlers().halfCompare(relation, type, ftz);
  } else {
    decoded.handler = handlers().compare(relation, type, ftz);
  }
  return finish(form, decoded);
}

bool FunctionDecoder::decodeSet() {
  Form form(*in_);
  Decoded decoded;
  Comparison relation;
  if (!comparison(form, relation, decoded))
    return false;
  bool ftz = form.take("ftz");
  ScalarType result = form.takeType(), type = form.takeType();
  const ptx::List<Operand> &o = in_->operands;
  if (!destination(o[0], result, decoded.d) || !source(o[1], type, decoded.a) || !source(o[2], type, decoded.b))
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
  return finish(form, decoded);
}

bool FunctionDecoder::decodeSelp() {
  Form form(*in_);
  ScalarType type = form.takeType();
  uint32_t bytes = ptx::byteSize(type);
  Decoded decoded;
  bool negated = false;
  const ptx::List<Operand> &o = in_->operands;
  if (bytes < 2 || bytes > 8 || type == ScalarType::Pred)
    return unsupported();
  if (!expectOperands(4, 4) || !destination(o[0], type, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], type, decoded.b) || !predicateSource(o[3], decoded.c, negated))
    return false;
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.handler = handlers().integer(IntOp::Select, bytes == 2   ? ScalarType::B16
                                                      : bytes == 4 ? ScalarType::B32
                                                                   : ScalarType::B64);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeSlct() {
  Form form(*in_);
  bool ftz = form.take("ftz");
  ScalarType type = form.takeType(), selector = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (selector != ScalarType::S32 && selector != ScalarType::F32)
    return unsupported();
  if (!expectOperands(4, 4) || !destination(o[0], type, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], type, decoded.b) || !source(o[3], selector, decoded.c))
    return false;
  decoded.flag = ftz && selector == ScalarType::F32;
  decoded.handler = slctHandler(type, selector, ftz);
  return finish(form, decoded);
}

} // namespace tenon::emulator
