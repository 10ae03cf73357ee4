// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvta and isspacep: addresses of one state space, and generic ones.
#include "emulator/decode/decoder.h"
#include "emulator/decode/memory_space.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"

namespace tenon::emulator {
namespace {

using ptx::ScalarType;

bool decodeCvta(Decoder &decoder) {
  Form form(decoder.in());
  bool to = form.take("to");
  std::optional<MemorySpace> space = takeSpace(form);
  ScalarType type = form.takeType();
  if (!space || type != ScalarType::U64)
    return decoder.unsupported();
  Decoded decoded;
  if (!decoder.source(decoder.in().operands[1], type, decoded.a))
    return false;
  bool same = *space == MemorySpace::Global || *space == MemorySpace::Const;
  if (same && decoder.bindConstant(form, decoder.in().operands[0], 8, decoded.a))
    return true;
  if (!decoder.destination(decoder.in().operands[0], type, decoded.d))
    return false;
  switch (*space) {
  case MemorySpace::Shared:
  case MemorySpace::SharedCluster:
    decoded.imm = static_cast<int64_t>(kSharedWindow);
    break;
  case MemorySpace::Local:
    decoded.imm = static_cast<int64_t>(kLocalWindow);
    break;
  case MemorySpace::Param:
    decoded.imm = static_cast<int64_t>(kParamWindow);
    break;
  case MemorySpace::Global:
  case MemorySpace::Const:
  case MemorySpace::Generic:
    decoded.imm = 0;
    break;
  }
  if (decoded.imm == 0)
    decoded.handler = handlers().integer(IntOp::Mov, ScalarType::B64);
  else
    decoded.handler = to ? fromGenericHandler(8) : toGenericHandler(8);
  return decoder.finish(form, decoded);
}

bool decodeIsspacep(Decoder &decoder) {
  Form form(decoder.in());
  std::optional<MemorySpace> space = takeSpace(form);
  if (!space)
    return decoder.unsupported();
  Decoded decoded;
  decoded.flag = static_cast<uint8_t>(*space);
  if (!decoder.predicateDestination(decoder.in().operands[0], decoded.d) ||
      !decoder.source(decoder.in().operands[1], ScalarType::U64, decoded.a))
    return false;
  decoded.handler = isSpaceHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family address() {
  static constexpr Opcode kRows[] = {
      {"cvta", &decodeCvta, {}, {2, 2}},
      {"isspacep", &decodeIsspacep, {}, {2, 2}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
