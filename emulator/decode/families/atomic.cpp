// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .b128 and atomics of vectors.
#include "emulator/decode/decoder.h"
#include "emulator/handlers/wide.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

bool FunctionDecoder::decodeWideAccess(Form &form, MemorySpace space, bool isLoad) {
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!expectOperands(2, 2) || !address(o[isLoad ? 1 : 0], space, decoded) ||
      !(isLoad ? destination(o[0], ScalarType::B128, decoded.d) : source(o[1], ScalarType::B128, decoded.b)))
    return false;
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.handler = isLoad ? loadWideHandler() : storeWideHandler();
  return finish(form, decoded);
}

/// mov.b128 between registers, and to and from a pair of 64-bit ones.
bool FunctionDecoder::decodeWideMov() {
  Form form(*in_);
  form.takeType();
  const Operand &to = in_->operands[0], &from = in_->operands[1];
  Decoded decoded;
  std::vector<uint32_t> halves;
  if (from.kind == Operand::Kind::Vector) {
    if (!vectorElements(from, ScalarType::B64, 2, true, halves) || !destination(to, ScalarType::B128, decoded.d))
      return false;
    decoded.a = halves[0];
    decoded.b = halves[1];
    decoded.handler = packWideHandler();
    return finish(form, decoded);
  }
  if (to.kind != Operand::Kind::Vector)
    return unsupported("from register to register");
  if (!vectorElements(to, ScalarType::B64, 2, false, halves) || !source(from, ScalarType::B128, decoded.a))
    return false;
  decoded.d = halves[0];
  decoded.e = halves[1];
  decoded.handler = unpackWideHandler();
  return finish(form, decoded);
}

bool FunctionDecoder::decodeWideAtomic(Form &form, MemorySpace space, AtomicOp op) {
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  bool cas = op == AtomicOp::Cas;
  if (in_->opcode != "atom" || (!cas && op != AtomicOp::Exch))
    return unsupported();
  if (!expectOperands(cas ? 4 : 3, cas ? 4 : 3) || !destination(o[0], ScalarType::B128, decoded.d) ||
      !address(o[1], space, decoded) || !source(o[2], ScalarType::B128, decoded.b) ||
      (cas && !source(o[3], ScalarType::B128, decoded.c)))
    return false;
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.handler = atomicWideHandler(cas);
  return finish(form, decoded);
}

/// atom.global.add.v4.f32 {d}, [a], {b}; of f16, bf16 and their pairs also min and max.
bool FunctionDecoder::decodeVectorAtomic(Form &form, MemorySpace space, AtomicOp op, uint32_t count) {
  bool noftz = form.take("noftz"), cachePolicy = form.take("L2::cache_hint"), isRed = in_->opcode == "red";
  ScalarType type = form.takeType();
  bool isSingle = type == ScalarType::F32, isPair = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  bool isHalf = type == ScalarType::F16 || type == ScalarType::BF16;
  bool known = (isSingle && op == AtomicOp::Add) ||
               ((isPair || isHalf) && (op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max));
  if (!known || noftz == isSingle || ptx::byteSize(type) * count > 16 ||
      (space != MemorySpace::Global && space != MemorySpace::Generic))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  size_t first = isRed ? 0 : 1, operands = first + 2 + cachePolicy;
  Decoded decoded;
  std::vector<uint32_t> list;
  if (!needsTarget(90) || !expectOperands(operands, operands) || !address(o[first], space, decoded) ||
      !vectorElements(o[first + 1], type, count, true, list) ||
      (!isRed && !vectorElements(o[0], type, count, false, list)))
    return false;
  decoded.list = addOperands(list);
  decoded.e = packVectorAtomic(op, type, count, !isRed);
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.handler = vectorAtomicHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
