// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async and its groups. Bulk copies are in bulk_copy.cpp, cp.async.mbarrier in mbarrier.cpp.
#include "emulator/async/copy_async.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

bool decodeCopyAsync(Decoder &decoder) {
  Form form(decoder.in());
  form.take("async");
  Decoded decoded;
  if (form.take("commit_group")) {
    decoded.handler = commitGroupHandler();
    return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
  }
  if (form.take("wait_all")) {
    decoded.imm = -1;
    decoded.handler = waitGroupHandler();
    return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
  }
  if (form.take("wait_group")) {
    if (!decoder.expectOperands(1, 1) || decoder.in().operands[0].kind != Operand::Kind::Integer)
      return decoder.fail("'cp.async.wait_group' takes a constant");
    decoded.imm = static_cast<int64_t>(decoder.in().operands[0].bits);
    decoded.handler = waitGroupHandler();
    return decoder.finish(form, decoded);
  }
  int level = form.takeOneOf({"ca", "cg"});
  bool shared = form.take("shared") || form.take("shared::cta");
  if (level < 0 || !shared || !form.take("global"))
    return decoder.unsupported();
  form.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  bool cachePolicy = form.take("L2::cache_hint");
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.expectOperands(cachePolicy ? 4 : 3, cachePolicy ? 5 : 4))
    return false;
  if (o[2].kind != Operand::Kind::Integer || (o[2].bits != 4 && o[2].bits != 8 && o[2].bits != 16) ||
      (level == 1 && o[2].bits != 16))
    return decoder.fail("'" + decoder.in().form() + "' copies " + (level == 1 ? "16" : "4, 8 or 16") + " bytes");
  Decoded from;
  MemorySpace sharedSpace = MemorySpace::Shared, globalSpace = MemorySpace::Global;
  if (!decoder.address(o[0], sharedSpace, decoded) || !decoder.address(o[1], globalSpace, from))
    return false;
  if (from.addressMode != AddressMode::Register64)
    return decoder.unsupported("a 32-bit global address");
  if (o.size() == (cachePolicy ? 5u : 4u) && !decoder.source(o[3], ScalarType::U32, decoded.c))
    return false;
  if (from.imm < INT32_MIN || from.imm > INT32_MAX || decoded.imm < INT32_MIN || decoded.imm > INT32_MAX)
    return decoder.unsupported("an offset of more than 32 bits");
  decoded.e = from.a;
  decoded.imm = (decoded.imm & 0xffffffff) | static_cast<int64_t>(static_cast<uint64_t>(from.imm) << 32);
  decoded.flag = static_cast<uint8_t>(o[2].bits);
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  decoded.handler = copyAsyncHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family copyAsync() {
  static constexpr Opcode kRows[] = {
      {"cp.async", &decodeCopyAsync},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
