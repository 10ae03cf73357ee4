// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma.mma_async and the instructions around it.
#include "emulator/decode/decoder.h"
#include "emulator/matrix/wgmma.h"

#include <charconv>

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

/// "m64n128k16"
bool parseShape(std::string_view text, uint32_t &n, uint32_t &k) {
  if (!text.starts_with("m64n"))
    return false;
  const char *end = text.data() + text.size();
  auto [middle, wrong] = std::from_chars(text.data() + 4, end, n);
  if (wrong != std::errc() || middle == end || *middle != 'k')
    return false;
  auto [last, alsoWrong] = std::from_chars(middle + 1, end, k);
  return alsoWrong == std::errc() && last == end;
}

bool elementOf(ScalarType type, WgmmaElement &out) {
  switch (type) {
  case ScalarType::F16:
    out = WgmmaElement::F16;
    return true;
  case ScalarType::BF16:
    out = WgmmaElement::BF16;
    return true;
  case ScalarType::TF32:
    out = WgmmaElement::TF32;
    return true;
  case ScalarType::E4M3:
    out = WgmmaElement::E4M3;
    return true;
  case ScalarType::E5M2:
    out = WgmmaElement::E5M2;
    return true;
  case ScalarType::S8:
    out = WgmmaElement::S8;
    return true;
  case ScalarType::U8:
    out = WgmmaElement::U8;
    return true;
  default:
    return false;
  }
}
bool isByteFloat(WgmmaElement element) {
  return element == WgmmaElement::E4M3 || element == WgmmaElement::E5M2;
}
bool isByteInteger(WgmmaElement element) {
  return element == WgmmaElement::S8 || element == WgmmaElement::U8;
}

/// The combinations of the table "wgmma.mma_async: shapes and types".
bool isKnown(const WgmmaForm &form, uint32_t k) {
  bool integers = isByteInteger(form.a);
  if (form.n < 8 || form.n > 256 || form.n % 8 || (integers && form.n > 32 && form.n % 16))
    return false;
  if (k != kWgmmaRowBytes / wgmmaElementBytes(form.a))
    return false;
  if (integers)
    return isByteInteger(form.b) && form.accumulator == ScalarType::S32;
  if (isByteFloat(form.a) ? !isByteFloat(form.b) : form.a != form.b)
    return false;
  return form.accumulator == ScalarType::F32 ||
         (form.accumulator == ScalarType::F16 && (form.a == WgmmaElement::F16 || isByteFloat(form.a)));
}

} // namespace

bool FunctionDecoder::decodeWgmma() {
  Form form(*in_);
  Decoded decoded;
  if (!needsTarget(90, true))
    return false;
  if (!form.take("sync") || !form.take("aligned"))
    return unsupported();
  if (form.take("mma_async"))
    return decodeWgmmaMultiply(form);
  int action = form.takeOneOf({"fence", "commit_group", "wait_group"});
  if (action < 0)
    return unsupported();
  decoded.kind = Kind::WarpSync;
  decoded.e = builder_.constant(0xffffffff, 4);
  decoded.handler = action == 0 ? nothingHandler() : action == 1 ? wgmmaCommitHandler() : wgmmaWaitHandler();
  if (action < 2)
    return expectOperands(0, 0) && finish(form, decoded);
  if (!expectOperands(1, 1) || in_->operands[0].kind != Operand::Kind::Integer || in_->operands[0].bits > 7)
    return fail("'wgmma.wait_group' takes a constant of 0 to 7");
  decoded.imm = static_cast<int64_t>(in_->operands[0].bits);
  return finish(form, decoded);
}

/// d, a or its descriptor, descriptor of b, scale-d {, imm-scale-a, imm-scale-b {, imm-trans-a}{, imm-trans-b}}
bool FunctionDecoder::decodeWgmmaMultiply(Form &form) {
  WgmmaForm wgmma;
  uint32_t k = 0;
  bool shaped = false;
  for (std::string_view modifier : in_->modifiers)
    if (parseShape(modifier, wgmma.n, k))
      shaped = form.take(modifier);
  wgmma.satfinite = form.take("satfinite");
  wgmma.accumulator = form.takeType();
  if (!shaped || !elementOf(form.takeType(), wgmma.a) || !elementOf(form.takeType(), wgmma.b) || !isKnown(wgmma, k) ||
      (wgmma.satfinite && !isByteInteger(wgmma.a)))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  bool scales = !isByteInteger(wgmma.a), transposes = wgmmaElementBytes(wgmma.a) == 2;
  if (!expectOperands(4, 8))
    return false;
  wgmma.aInRegisters = o[1].kind == Operand::Kind::Vector;
  size_t operands = 4u + 2 * scales + (transposes ? (wgmma.aInRegisters ? 1 : 2) : 0);
  Decoded decoded;
  std::vector<uint32_t> list;
  if (!expectOperands(operands, operands) ||
      !vectorElements(o[0], ScalarType::B32, wgmmaAccumulators(wgmma), false, list))
    return false;
  for (uint32_t &accumulator : list)
    if (accumulator == kNoOperand)
      return fail("an accumulator of 'wgmma.mma_async' cannot be '_'");
  if (wgmma.aInRegisters) {
    if (!vectorElements(o[1], ScalarType::B32, 4, true, list))
      return false;
  } else {
    list.push_back(kNoOperand);
    if (!source(o[1], ScalarType::B64, list.back()))
      return false;
  }
  list.push_back(kNoOperand);
  bool negated = false;
  if (!source(o[2], ScalarType::B64, list.back()) || !predicateSource(o[3], decoded.c, negated))
    return false;
  for (size_t at = 4; at < operands; ++at) {
    int64_t value = static_cast<int64_t>(o[at].bits);
    bool isScale = at < 6, isTransposeB = at + 1 == operands;
    if (o[at].kind != Operand::Kind::Integer || (isScale ? value != 1 && value != -1 : value != 0 && value != 1))
      return fail(isScale ? "a scale of 'wgmma.mma_async' is 1 or -1"
                          : "a transposition of 'wgmma.mma_async' is 0 or 1");
    bool on = isScale ? value == -1 : value == 1;
    (isScale ? (at == 4 ? wgmma.negateA : wgmma.negateB) : isTransposeB ? wgmma.transposeB : wgmma.transposeA) = on;
  }
  decoded.list = addOperands(list);
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.imm = packWgmma(wgmma);
  decoded.e = builder_.constant(0xffffffff, 4);
  decoded.kind = Kind::WarpSync;
  decoded.handler = wgmmaHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
