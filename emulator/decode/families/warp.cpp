// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of a whole warp: what lanes tell each other, and which of them are there.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"
#include "emulator/handlers/warp_ops.h"
#include "emulator/lanes/shfl.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

bool decodeShfl(Decoder &decoder) {
  Form form(decoder.in());
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"up", "down", "bfly", "idx"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != ScalarType::B32)
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  decoded.target = kNoOperand;
  if (!decoder.expectOperands(sync ? 5 : 4, sync ? 5 : 4))
    return false;
  if (o[0].kind == Operand::Kind::Pair) {
    if ((o[0].elements[0].kind != Operand::Kind::Sink && !decoder.destination(o[0].elements[0], type, decoded.d)) ||
        !decoder.predicateDestination(o[0].elements[1], decoded.target))
      return false;
  } else if (!decoder.destination(o[0], type, decoded.d)) {
    return false;
  }
  if (!decoder.source(o[1], type, decoded.a) || !decoder.source(o[2], type, decoded.b) ||
      !decoder.source(o[3], type, decoded.c) || (sync && !decoder.source(o[4], type, decoded.e)))
    return false;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  std::optional<uint64_t> lane = decoder.constantValue(decoded.b), clamp = decoder.constantValue(decoded.c);
  if (lane && clamp) {
    FixedShuffle table =
        fixShuffle(static_cast<ShuffleMode>(mode), static_cast<uint32_t>(*lane), static_cast<uint32_t>(*clamp));
    const uint32_t *words = reinterpret_cast<const uint32_t *>(&table);
    decoded.list = decoder.addOperands({words, words + sizeof table / sizeof *words});
  }
  decoded.handler = handlers().shuffle(static_cast<ShuffleMode>(mode), lane && clamp);
  return decoder.finish(form, decoded);
}

bool decodeVote(Decoder &decoder) {
  Form form(decoder.in());
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"all", "any", "uni", "ballot"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != (mode == 3 ? ScalarType::B32 : ScalarType::Pred))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  bool negated = false;
  if (!decoder.expectOperands(sync ? 3 : 2, sync ? 3 : 2) || !decoder.destination(o[0], type, decoded.d) ||
      !decoder.predicateSource(o[1], decoded.a, negated) || (sync && !decoder.source(o[2], ScalarType::U32, decoded.e)))
    return false;
  if (decoded.d == kNoOperand)
    decoded.d = decoder.allocateRegister(0);
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  decoded.handler = voteHandler(static_cast<VoteMode>(mode));
  return decoder.finish(form, decoded);
}

bool decodeMatch(Decoder &decoder) {
  Form form(decoder.in());
  int mode = form.takeOneOf({"any", "all"});
  bool sync = form.take("sync");
  ScalarType type = form.takeType();
  if (mode < 0 || !sync || (type != ScalarType::B32 && type != ScalarType::B64))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  const Operand *first = &o[0];
  if (o[0].kind == Operand::Kind::Pair) {
    first = &o[0].elements[0];
    if (mode == 0 || !decoder.predicateDestination(o[0].elements[1], decoded.c))
      return mode == 0 ? decoder.unsupported("a second destination") : false;
  }
  if (!decoder.destination(*first, ScalarType::B32, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = matchHandler(mode == 1, ptx::byteSize(type));
  return decoder.finish(form, decoded);
}

bool decodeRedux(Decoder &decoder) {
  Form form(decoder.in());
  bool sync = form.take("sync");
  int op = form.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  ScalarType type = form.takeType();
  bool isBits = type == ScalarType::B32;
  if (!sync || op < 0 || (!isBits && type != ScalarType::U32 && type != ScalarType::S32) || isBits != (op >= 3))
    return decoder.unsupported();
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = reduxHandler(static_cast<ReduceOp>(op), type == ScalarType::S32);
  return decoder.finish(form, decoded);
}

bool decodeActivemask(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (form.takeType() != ScalarType::B32)
    return decoder.unsupported();
  if (!decoder.destination(decoder.in().operands[0], ScalarType::B32, decoded.d))
    return false;
  decoded.handler = activeMaskHandler();
  return decoder.finish(form, decoded);
}

bool decodeElect(Decoder &decoder) {
  Form form(decoder.in());
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (!form.take("sync") || !decoder.expectOperands(2, 2) || o[0].kind != Operand::Kind::Pair)
    return decoder.unsupported();
  if ((o[0].elements[0].kind != Operand::Kind::Sink &&
       !decoder.destination(o[0].elements[0], ScalarType::B32, decoded.d)) ||
      !decoder.predicateDestination(o[0].elements[1], decoded.c) || !decoder.source(o[1], ScalarType::U32, decoded.e))
    return false;
  if (decoded.c == kNoOperand)
    decoded.c = decoder.allocateRegister(0);
  decoded.kind = Kind::WarpSync;
  decoded.handler = electHandler();
  return decoder.finish(form, decoded);
}

bool decodeNanosleep(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (form.takeType() != ScalarType::U32)
    return decoder.unsupported();
  if (!decoder.source(decoder.in().operands[0], ScalarType::U32, decoded.a))
    return false;
  decoded.handler = nanosleepHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family warp() {
  static constexpr Opcode kRows[] = {
      {"shfl", &decodeShfl},
      {"vote", &decodeVote},
      {"match", &decodeMatch, {}, {3, 3}},
      {"redux", &decodeRedux, {}, {3, 3}},
      {"activemask", &decodeActivemask, {}, {1, 1}},
      {"elect", &decodeElect},
      {"nanosleep", &decodeNanosleep, {}, {1, 1}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
