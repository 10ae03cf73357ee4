// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, ldu and st.
#include "emulator/decode/decoder.h"
#include "emulator/decode/memory_space.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/checked_memory_ops.h"
#include "emulator/handlers/wide.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// What ld and st have in common.
struct MemoryForm {
  MemorySpace space = MemorySpace::Generic;
  uint32_t count = 1; // elements
  ScalarType type = ScalarType::None;
  bool isStrong = false, cachePolicy = false;
};

/// Ordering, scope, space, cache hints, vector and type of ld and st. Hints change nothing; accesses that have an order
/// are atomic, because blocks may run at the same time.
bool takeMemoryForm(Decoder &decoder, Form &form, MemoryForm &out) {
  out.isStrong = form.takeOneOf({"weak", "relaxed", "acquire", "release", "volatile", "mmio"}) > 0;
  form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  out.space = takeSpace(form).value_or(MemorySpace::Generic);
  form.take("nc");
  form.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  form.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  form.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  form.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  out.cachePolicy = form.take("L2::cache_hint");
  int vector = form.takeOneOf({"v2", "v4", "v8"});
  out.count = vector < 0 ? 1 : 2u << vector;
  out.type = form.takeType();
  if (out.type == ScalarType::B128 && out.count == 1 && !out.cachePolicy)
    return true;
  if (ptx::bitsOf(ptx::byteSize(out.type)) == ScalarType::None || out.type == ScalarType::Pred)
    return decoder.unsupported();
  size_t operands = out.cachePolicy ? 3 : 2;
  return decoder.expectOperands(operands, operands);
}

/// The destinations of a load: `d`, or a run at `list`.
bool loadDestinations(Decoder &decoder, const Operand &operand, ScalarType type, uint32_t count, Decoded &decoded) {
  if (count == 1)
    return decoder.destination(onlyElement(operand), type, decoded.d, true);
  std::vector<uint32_t> elements;
  if (!decoder.vectorElements(operand, type, count, false, elements))
    return false;
  decoded.list = decoder.addOperands(elements);
  return true;
}

/// .b128
bool decodeWideAccess(Decoder &decoder, Form &form, MemorySpace space, bool isLoad) {
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!decoder.expectOperands(2, 2) || !decoder.address(o[isLoad ? 1 : 0], space, decoded) ||
      !(isLoad ? decoder.destination(onlyElement(o[0]), ScalarType::B128, decoded.d)
               : decoder.source(onlyElement(o[1]), ScalarType::B128, decoded.b)))
    return false;
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.handler = isLoad ? loadWideHandler() : storeWideHandler();
  return decoder.finish(form, decoded);
}

/// A kernel parameter by name: the same for every lane, its bounds known now.
bool decodeLoadParameter(Decoder &decoder, Form &form, ScalarType type, uint32_t count, const ParameterSlot &slot) {
  int64_t offset = decoder.in().operands[1].offset;
  uint32_t bytes = ptx::byteSize(type);
  if (offset < 0 || static_cast<uint64_t>(offset) + bytes * count > slot.bytes)
    return decoder.fail("'" + decoder.in().form() + "' reads " + std::to_string(bytes * count) + " bytes at offset " +
                        std::to_string(offset) + " of a parameter of " + std::to_string(slot.bytes));
  uint32_t at = slot.offset + static_cast<uint32_t>(offset);
  const Operand &value = decoder.in().operands[0];
  if (count == 1 && decoder.bindConstant(form, onlyElement(value), bytes, decoder.parameter(at, bytes)))
    return true;
  std::vector<uint32_t> elements(1, kNoOperand);
  if (count == 1) {
    if (!decoder.destination(onlyElement(value), type, elements[0], true))
      return false;
  } else {
    elements.clear();
    if (!decoder.vectorElements(value, type, count, false, elements))
      return false;
  }
  if (!form.left().empty())
    return decoder.unsupported("modifier '." + std::string(form.left()) + "'");
  for (uint32_t k = 0; k < count; ++k) {
    Decoded decoded;
    decoded.d = elements[k];
    decoded.a = decoder.parameter(at + k * bytes, bytes);
    decoded.handler = handlers().integer(IntOp::Mov, ptx::bitsOf(bytes));
    if (decoded.d != kNoOperand)
      decoder.emit(decoded);
  }
  return true;
}

bool decodeLoad(Decoder &decoder) {
  Form form(decoder.in());
  MemoryForm what;
  if (!takeMemoryForm(decoder, form, what))
    return false;
  if (what.type == ScalarType::B128)
    return decodeWideAccess(decoder, form, what.space, true);
  const Operand &memory = decoder.in().operands[1];
  if (what.space == MemorySpace::Param)
    if (const ParameterSlot *parameter = decoder.kernelParameter(memory))
      return decodeLoadParameter(decoder, form, what.type, what.count, *parameter);
  Decoded decoded;
  if (!decoder.address(memory, what.space, decoded) ||
      !loadDestinations(decoder, decoder.in().operands[0], what.type, what.count, decoded))
    return false;
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.flag = static_cast<uint8_t>(what.space);
  decoded.handler = decoder.checks().shadowed()
                        ? checkedLoadHandler(what.space, ptx::byteSize(what.type), what.count)
                        : handlers().load(what.space, ptx::byteSize(what.type), what.count, what.isStrong);
  return decoder.finish(form, decoded);
}

bool decodeStore(Decoder &decoder) {
  Form form(decoder.in());
  MemoryForm what;
  Decoded decoded;
  if (!takeMemoryForm(decoder, form, what))
    return false;
  if (what.type == ScalarType::B128)
    return decodeWideAccess(decoder, form, what.space, false);
  if (!decoder.address(decoder.in().operands[0], what.space, decoded))
    return false;
  if (what.count == 1) {
    if (!decoder.source(onlyElement(decoder.in().operands[1]), what.type, decoded.b, true))
      return false;
  } else {
    std::vector<uint32_t> elements;
    if (!decoder.vectorElements(decoder.in().operands[1], what.type, what.count, true, elements))
      return false;
    decoded.list = decoder.addOperands(elements);
  }
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.flag = static_cast<uint8_t>(what.space);
  decoded.handler = decoder.checks().shadowed()
                        ? checkedStoreHandler(what.space, ptx::byteSize(what.type), what.count)
                        : handlers().store(what.space, ptx::byteSize(what.type), what.count, what.isStrong);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family loadStore() {
  static constexpr Opcode kRows[] = {
      {"ld", &decodeLoad},
      {"ldu", &decodeLoad},
      {"st", &decodeStore},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
