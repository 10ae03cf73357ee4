// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov: of registers, of symbols, and of vectors into one register and back.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/wide.h"
#include "ptx/scalar_type.h"

#include <array>

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

bool decodePack(Decoder &decoder, ScalarType type) {
  Form form(decoder.in());
  form.takeType();
  uint32_t bytes = ptx::byteSize(type), count = static_cast<uint32_t>(decoder.in().operands[1].elements.size());
  if ((count != 2 && count != 4) || bytes % count)
    return decoder.unsupported("a vector of " + std::to_string(count));
  Decoded decoded;
  std::vector<uint32_t> elements;
  for (const Operand &element : decoder.in().operands[1].elements) {
    uint32_t offset;
    if (!decoder.source(element, ptx::bitsOf(bytes / count), offset))
      return false;
    elements.push_back(offset);
  }
  if (!decoder.destination(decoder.in().operands[0], type, decoded.d))
    return false;
  decoded.list = decoder.addOperands(elements);
  decoded.handler = handlers().pack(true, bytes, count);
  return decoder.finish(form, decoded);
}

bool decodeUnpack(Decoder &decoder, ScalarType type) {
  Form form(decoder.in());
  form.takeType();
  uint32_t bytes = ptx::byteSize(type), count = static_cast<uint32_t>(decoder.in().operands[0].elements.size());
  if ((count != 2 && count != 4) || bytes % count)
    return decoder.unsupported("a vector of " + std::to_string(count));
  Decoded decoded;
  std::vector<uint32_t> elements;
  for (const Operand &element : decoder.in().operands[0].elements) {
    uint32_t offset = kNoOperand;
    if (element.kind != Operand::Kind::Sink && !decoder.destination(element, ptx::bitsOf(bytes / count), offset))
      return false;
    elements.push_back(offset);
  }
  if (!decoder.source(decoder.in().operands[1], type, decoded.a))
    return false;
  decoded.list = decoder.addOperands(elements);
  decoded.handler = handlers().pack(false, bytes, count);
  return decoder.finish(form, decoded);
}

bool decodeMov(Decoder &decoder) {
  Form form(decoder.in());
  ScalarType type = form.takeType();
  const std::array<Operand, 2> o = {onlyElement(decoder.in().operands[0]), onlyElement(decoder.in().operands[1])};
  if (o[1].kind == Operand::Kind::Vector)
    return decodePack(decoder, type);
  if (o[0].kind == Operand::Kind::Vector)
    return decodeUnpack(decoder, type);
  Decoded decoded;
  uint32_t bytes = ptx::byteSize(type);
  if (type == ScalarType::Pred) {
    bool negated = false;
    if (!decoder.predicateDestination(o[0], decoded.d) || !decoder.predicateSource(o[1], decoded.a, negated))
      return false;
    decoded.handler = handlers().integer(negated ? IntOp::Not : IntOp::Mov, ScalarType::Pred);
    return decoder.finish(form, decoded);
  }
  if (ptx::bitsOf(bytes) == ScalarType::None)
    return decoder.unsupported();
  if (!decoder.source(o[1], type, decoded.a))
    return false;
  if (decoder.bindConstant(form, o[0], bytes, decoded.a))
    return true;
  if (!decoder.destination(o[0], type, decoded.d))
    return false;
  decoded.handler = handlers().integer(IntOp::Mov, ptx::bitsOf(bytes));
  return decoder.finish(form, decoded);
}

/// mov.b128 between registers, and to and from a pair of 64-bit ones.
bool decodeWideMov(Decoder &decoder) {
  Form form(decoder.in());
  form.takeType();
  const Operand &to = decoder.in().operands[0], &from = decoder.in().operands[1];
  Decoded decoded;
  std::vector<uint32_t> halves;
  if (from.kind == Operand::Kind::Vector) {
    if (!decoder.vectorElements(from, ScalarType::B64, 2, true, halves) ||
        !decoder.destination(to, ScalarType::B128, decoded.d))
      return false;
    decoded.a = halves[0];
    decoded.b = halves[1];
    decoded.handler = packWideHandler();
    return decoder.finish(form, decoded);
  }
  if (to.kind != Operand::Kind::Vector)
    return decoder.unsupported("from register to register");
  if (!decoder.vectorElements(to, ScalarType::B64, 2, false, halves) ||
      !decoder.source(from, ScalarType::B128, decoded.a))
    return false;
  decoded.d = halves[0];
  decoded.e = halves[1];
  decoded.handler = unpackWideHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family move() {
  static constexpr Opcode kRows[] = {
      {"mov", &decodeMov, {}, {2, 2}},
      {"mov.b128", &decodeWideMov, {}, {2, 2}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
