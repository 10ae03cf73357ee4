// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red: of one value, of 128 bits, and of vectors.
#include "emulator/decode/decoder.h"
#include "emulator/decode/memory_space.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/wide.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// atom.global.add.v4.f32 {d}, [a], {b}; of f16, bf16 and their pairs also min and max.
bool decodeVectorAtomic(Decoder &decoder, Form &form, MemorySpace space, AtomicOp op, uint32_t count) {
  bool noftz = form.take("noftz"), cachePolicy = form.take("L2::cache_hint"), isRed = decoder.in().opcode == "red";
  ScalarType type = form.takeType();
  bool isSingle = type == ScalarType::F32, isPair = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  bool isHalf = type == ScalarType::F16 || type == ScalarType::BF16;
  bool known = (isSingle && op == AtomicOp::Add) ||
               ((isPair || isHalf) && (op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max));
  if (!known || noftz == isSingle || ptx::byteSize(type) * count > 16 ||
      (space != MemorySpace::Global && space != MemorySpace::Generic))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  size_t first = isRed ? 0 : 1, operands = first + 2 + cachePolicy;
  Decoded decoded;
  std::vector<uint32_t> list;
  if (!decoder.needsTarget(90) || !decoder.expectOperands(operands, operands) ||
      !decoder.address(o[first], space, decoded) || !decoder.vectorElements(o[first + 1], type, count, true, list) ||
      (!isRed && !decoder.vectorElements(o[0], type, count, false, list)))
    return false;
  decoded.list = decoder.addOperands(list);
  decoded.e = packVectorAtomic(op, type, count, !isRed);
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.handler = vectorAtomicHandler();
  return decoder.finish(form, decoded);
}

bool decodeWideAtomic(Decoder &decoder, Form &form, MemorySpace space, AtomicOp op) {
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  bool cas = op == AtomicOp::Cas;
  if (decoder.in().opcode != "atom" || (!cas && op != AtomicOp::Exch))
    return decoder.unsupported();
  if (!decoder.expectOperands(cas ? 4 : 3, cas ? 4 : 3) || !decoder.destination(o[0], ScalarType::B128, decoded.d) ||
      !decoder.address(o[1], space, decoded) || !decoder.source(o[2], ScalarType::B128, decoded.b) ||
      (cas && !decoder.source(o[3], ScalarType::B128, decoded.c)))
    return false;
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.handler = atomicWideHandler(cas);
  return decoder.finish(form, decoded);
}

/// atom and red
bool decodeAtom(Decoder &decoder) {
  Form form(decoder.in());
  bool isRed = decoder.in().opcode == "red";
  form.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  MemorySpace space = takeSpace(form).value_or(MemorySpace::Generic);
  int op = form.takeOneOf({"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"});
  if (int vector = form.takeOneOf({"v2", "v4", "v8"}); vector >= 0 && op >= 0)
    return decodeVectorAtomic(decoder, form, space, static_cast<AtomicOp>(op), 2u << vector);
  bool noftz = form.take("noftz"), cachePolicy = form.take("L2::cache_hint");
  ScalarType type = form.takeType();
  if (op < 0)
    return decoder.unsupported("no operation it knows");
  if (type == ScalarType::B128)
    return decodeWideAtomic(decoder, form, space, static_cast<AtomicOp>(op));
  bool isHalf =
      type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 || type == ScalarType::BF16x2;
  if (noftz != isHalf)
    return decoder.unsupported(isHalf ? "'.noftz' is missing" : "modifier '.noftz'");
  AtomicOp atomic = static_cast<AtomicOp>(op);
  if (isRed && (atomic == AtomicOp::Exch || atomic == AtomicOp::Cas))
    return decoder.unsupported();
  size_t sources = atomic == AtomicOp::Cas ? 2 : 1, first = isRed ? 0 : 1;
  size_t operands = first + 1 + sources + (cachePolicy ? 1 : 0);
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.expectOperands(operands, operands))
    return false;
  if (!isRed && o[0].kind != Operand::Kind::Sink && !decoder.destination(o[0], type, decoded.d))
    return false;
  if (!decoder.address(o[first], space, decoded) || !decoder.source(o[first + 1], type, decoded.b) ||
      (sources == 2 && !decoder.source(o[first + 2], type, decoded.c)))
    return false;
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.flag = static_cast<uint8_t>(space);
  decoded.handler = atomicHandler(atomic, type);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family atomic() {
  static constexpr Opcode kRows[] = {
      {"atom", &decodeAtom},
      {"red", &decodeAtom},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
