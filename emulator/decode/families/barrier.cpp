// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a block and of a warp.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"
#include "emulator/handlers/fence_ops.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

bool decodeWarpBarrier(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  form.take("warp");
  if (!form.take("sync"))
    return decoder.unsupported();
  if (!decoder.source(decoder.in().operands[0], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSyncAny;
  decoded.handler = meetHandler();
  return decoder.finish(form, decoded);
}

/// bar and barrier. `.aligned`, and `bar` always, promises that all threads of a warp execute it together, which only
/// the check of barriers asks for.
bool decodeBar(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  form.take("cta");
  const bool isAligned = form.take("aligned") || decoder.in().opcode == "bar";
  decoded.imm = isAligned;
  int action = form.takeOneOf({"sync", "arrive", "red"});
  if (action < 0)
    return decoder.unsupported();
  decoded.kind = Kind::Barrier;
  decoded.handler = nothingHandler();
  if (action < 2) {
    decoded.flag = static_cast<uint8_t>(action == 0 ? BarrierKind::Sync : BarrierKind::Arrive);
    if (!decoder.expectOperands(action == 0 ? 1 : 2, 2) || !decoder.source(o[0], ScalarType::U32, decoded.a) ||
        (o.size() > 1 && !decoder.source(o[1], ScalarType::U32, decoded.b)))
      return false;
    return decoder.finish(form, decoded);
  }
  int op = form.takeOneOf({"popc", "and", "or"});
  ScalarType type = form.takeType();
  if (op < 0 || type != (op == 0 ? ScalarType::U32 : ScalarType::Pred))
    return decoder.unsupported();
  bool negated = false;
  if (!decoder.expectOperands(3, 4) || !decoder.destination(o[0], type, decoded.d) ||
      !decoder.source(o[1], ScalarType::U32, decoded.a) ||
      (o.size() == 4 && !decoder.source(o[2], ScalarType::U32, decoded.b)) ||
      !decoder.predicateSource(o.back(), decoded.c, negated))
    return false;
  if (decoded.d == kNoOperand)
    decoded.d = decoder.allocateRegister(0);
  decoded.flag = static_cast<uint8_t>((static_cast<uint8_t>(BarrierKind::Popc) + op) | (negated ? kThirdNegated : 0));
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family barrier() {
  static constexpr Opcode kRows[] = {
      {"bar", &decodeBar},
      {"barrier", &decodeBar},
      {"bar.warp", &decodeWarpBarrier, {}, {1, 1}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
