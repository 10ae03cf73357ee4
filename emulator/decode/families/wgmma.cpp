// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma.mma_async and the instructions around it.
#include "emulator/matrix/wgmma.h"
#include "support/number.h"

#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"
#include <optional>

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

struct Shape {
  uint32_t n, k;
};
/// "m64n128k16"; nothing for other text.
std::optional<Shape> parseShape(std::string_view text) {
  if (!text.starts_with("m64n"))
    return std::nullopt;
  text.remove_prefix(4);
  std::optional<uint32_t> n = takeNumber<uint32_t>(text);
  if (!n || !text.starts_with('k'))
    return std::nullopt;
  std::optional<uint32_t> k = parseNumber<uint32_t>(text.substr(1));
  return k ? std::optional(Shape{*n, *k}) : std::nullopt;
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

/// d, a or its descriptor, descriptor of b, scale-d {, imm-scale-a, imm-scale-b {, imm-trans-a}{, imm-trans-b}}
bool decodeWgmmaMultiply(Decoder &decoder, Form &form) {
  WgmmaForm wgmma;
  std::optional<Shape> shape;
  for (std::string_view modifier : decoder.in().modifiers)
    if ((shape = parseShape(modifier))) {
      form.take(modifier);
      wgmma.n = shape->n;
      break;
    }
  wgmma.satfinite = form.take("satfinite");
  wgmma.accumulator = form.takeType();
  if (!shape || !elementOf(form.takeType(), wgmma.a) || !elementOf(form.takeType(), wgmma.b) ||
      !isKnown(wgmma, shape->k) || (wgmma.satfinite && !isByteInteger(wgmma.a)))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  bool scales = !isByteInteger(wgmma.a), transposes = wgmmaElementBytes(wgmma.a) == 2;
  if (!decoder.expectOperands(4, 8))
    return false;
  wgmma.aInRegisters = o[1].kind == Operand::Kind::Vector;
  size_t operands = 4u + 2 * scales + (transposes ? (wgmma.aInRegisters ? 1 : 2) : 0);
  Decoded decoded;
  std::vector<uint32_t> list;
  if (!decoder.expectOperands(operands, operands) ||
      !decoder.vectorElements(o[0], ScalarType::B32, wgmmaAccumulators(wgmma), false, list))
    return false;
  for (uint32_t &accumulator : list)
    if (accumulator == kNoOperand)
      return decoder.fail("an accumulator of 'wgmma.mma_async' cannot be '_'");
  if (wgmma.aInRegisters) {
    if (!decoder.vectorElements(o[1], ScalarType::B32, 4, true, list))
      return false;
  } else {
    list.push_back(kNoOperand);
    if (!decoder.source(o[1], ScalarType::B64, list.back()))
      return false;
  }
  list.push_back(kNoOperand);
  bool negated = false;
  if (!decoder.source(o[2], ScalarType::B64, list.back()) || !decoder.predicateSource(o[3], decoded.c, negated))
    return false;
  for (size_t at = 4; at < operands; ++at) {
    int64_t value = static_cast<int64_t>(o[at].bits);
    bool isScale = at < 6, isTransposeB = at + 1 == operands;
    if (o[at].kind != Operand::Kind::Integer || (isScale ? value != 1 && value != -1 : value != 0 && value != 1))
      return decoder.fail(isScale ? "a scale of 'wgmma.mma_async' is 1 or -1"
                                  : "a transposition of 'wgmma.mma_async' is 0 or 1");
    bool on = isScale ? value == -1 : value == 1;
    (isScale ? (at == 4 ? wgmma.negateA : wgmma.negateB) : isTransposeB ? wgmma.transposeB : wgmma.transposeA) = on;
  }
  decoded.list = decoder.addOperands(list);
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.imm = packWgmma(wgmma);
  decoded.e = decoder.constant(0xffffffff, 4);
  decoded.kind = Kind::WarpSync;
  decoded.handler = wgmmaHandler();
  return decoder.finish(form, decoded);
}

bool decodeWgmma(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (!form.take("sync") || !form.take("aligned"))
    return decoder.unsupported();
  if (form.take("mma_async"))
    return decodeWgmmaMultiply(decoder, form);
  int action = form.takeOneOf({"fence", "commit_group", "wait_group"});
  if (action < 0)
    return decoder.unsupported();
  decoded.kind = Kind::WarpSync;
  decoded.e = decoder.constant(0xffffffff, 4);
  decoded.handler = action == 0 ? nothingHandler() : action == 1 ? wgmmaCommitHandler() : wgmmaWaitHandler();
  if (action < 2)
    return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
  if (!decoder.expectOperands(1, 1) || decoder.in().operands[0].kind != Operand::Kind::Integer ||
      decoder.in().operands[0].bits > 7)
    return decoder.fail("'wgmma.wait_group' takes a constant of 0 to 7");
  decoded.imm = static_cast<int64_t>(decoder.in().operands[0].bits);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family wgmma() {
  static constexpr Opcode kRows[] = {
      {"wgmma", &decodeWgmma, {90, true}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
