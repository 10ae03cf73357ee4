// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov: of registers, of symbols, and of vectors into one register and back.
#include "emulator/decode/decoder.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

bool FunctionDecoder::decodeMov() {
  Form form(*in_);
  ScalarType type = form.takeType();
  if (!expectOperands(2, 2))
    return false;
  if (type == ScalarType::B128)
    return decodeWideMov();
  const ptx::List<Operand> &o = in_->operands;
  if (o[1].kind == Operand::Kind::Vector)
    return decodePack(type);
  if (o[0].kind == Operand::Kind::Vector)
    return decodeUnpack(type);
  Decoded decoded;
  uint32_t bytes = ptx::byteSize(type);
  if (type == ScalarType::Pred) {
    bool negated = false;
    if (!predicateDestination(o[0], decoded.d) || !predicateSource(o[1], decoded.a, negated))
      return false;
    decoded.handler = handlers().integer(negated ? IntOp::Not : IntOp::Mov, ScalarType::Pred);
    return finish(form, decoded);
  }
  if (ptx::bitsOf(bytes) == ScalarType::None)
    return unsupported();
  if (!source(o[1], type, decoded.a))
    return false;
  if (bindConstant(form, o[0], bytes, decoded.a))
    return true;
  if (!destination(o[0], type, decoded.d))
    return false;
  decoded.handler = handlers().integer(IntOp::Mov, ptx::bitsOf(bytes));
  return finish(form, decoded);
}

bool FunctionDecoder::decodePack(ScalarType type) {
  Form form(*in_);
  form.takeType();
  uint32_t bytes = ptx::byteSize(type), count = static_cast<uint32_t>(in_->operands[1].elements.size());
  if ((count != 2 && count != 4) || bytes % count)
    return unsupported("a vector of " + std::to_string(count));
  Decoded decoded;
  std::vector<uint32_t> elements;
  for (const Operand &element : in_->operands[1].elements) {
    uint32_t offset;
    if (!source(element, ptx::bitsOf(bytes / count), offset))
      return false;
    elements.push_back(offset);
  }
  if (!destination(in_->operands[0], type, decoded.d))
    return false;
  decoded.list = addOperands(elements);
  decoded.handler = handlers().pack(true, bytes, count);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeUnpack(ScalarType type) {
  Form form(*in_);
  form.takeType();
  uint32_t bytes = ptx::byteSize(type), count = static_cast<uint32_t>(in_->operands[0].elements.size());
  if ((count != 2 && count != 4) || bytes % count)
    return unsupported("a vector of " + std::to_string(count));
  Decoded decoded;
  std::vector<uint32_t> elements;
  for (const Operand &element : in_->operands[0].elements) {
    uint32_t offset = kNoOperand;
    if (element.kind != Operand::Kind::Sink && !destination(element, ptx::bitsOf(bytes / count), offset))
      return false;
    elements.push_back(offset);
  }
  if (!source(in_->operands[1], type, decoded.a))
    return false;
  decoded.list = addOperands(elements);
  decoded.handler = handlers().pack(false, bytes, count);
  return finish(form, decoded);
}

} // namespace tenon::emulator
