// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of a whole warp: what lanes tell each other, and which of them are there.
#include "emulator/decode/decoder.h"
#include "emulator/lanes/shfl.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

bool FunctionDecoder::decodeShfl() {
  Form form(*in_);
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"up", "down", "bfly", "idx"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != ScalarType::B32)
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  decoded.target = kNoOperand;
  if (!expectOperands(sync ? 5 : 4, sync ? 5 : 4))
    return false;
  if (o[0].kind == Operand::Kind::Pair) {
    if ((o[0].elements[0].kind != Operand::Kind::Sink && !destination(o[0].elements[0], type, decoded.d)) ||
        !predicateDestination(o[0].elements[1], decoded.target))
      return false;
  } else if (!destination(o[0], type, decoded.d)) {
    return false;
  }
  if (!source(o[1], type, decoded.a) || !source(o[2], type, decoded.b) || !source(o[3], type, decoded.c) ||
      (sync && !source(o[4], type, decoded.e)))
    return false;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  std::optional<uint64_t> lane = builder_.constantValue(decoded.b), clamp = builder_.constantValue(decoded.c);
  if (lane && clamp) {
    FixedShuffle table =
        fixShuffle(static_cast<ShuffleMode>(mode), static_cast<uint32_t>(*lane), static_cast<uint32_t>(*clamp));
    const uint32_t *words = reinterpret_cast<const uint32_t *>(&table);
    decoded.list = addOperands({words, words + sizeof table / sizeof *words});
  }
  decoded.handler = handlers().shuffle(static_cast<ShuffleMode>(mode), lane && clamp);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeVote() {
  Form form(*in_);
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"all", "any", "uni", "ballot"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != (mode == 3 ? ScalarType::B32 : ScalarType::Pred))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  bool negated = false;
  if (!expectOperands(sync ? 3 : 2, sync ? 3 : 2) || !destination(o[0], type, decoded.d) ||
      !predicateSource(o[1], decoded.a, negated) || (sync && !source(o[2], ScalarType::U32, decoded.e)))
    return false;
  if (decoded.d == kNoOperand)
    decoded.d = allocateRegister(0);
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  decoded.handler = voteHandler(static_cast<VoteMode>(mode));
  return finish(form, decoded);
}

bool FunctionDecoder::decodeMatch() {
  Form form(*in_);
  int mode = form.takeOneOf({"any", "all"});
  bool sync = form.take("sync");
  ScalarType type = form.takeType();
  if (mode < 0 || !sync || (type != ScalarType::B32 && type != ScalarType::B64))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!expectOperands(3, 3))
    return false;
  const Operand *first = &o[0];
  if (o[0].kind == Operand::Kind::Pair) {
    first = &o[0].elements[0];
    if (mode == 0 || !predicateDestination(o[0].elements[1], decoded.c))
      return mode == 0 ? unsupported("a second destination") : false;
  }
  if (!destination(*first, ScalarType::B32, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = matchHandler(mode == 1, ptx::byteSize(type));
  return finish(form, decoded);
}

bool FunctionDecoder::decodeRedux() {
  Form form(*in_);
  bool sync = form.take("sync");
  int op = form.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  ScalarType type = form.takeType();
  bool isBits = type == ScalarType::B32;
  if (!sync || op < 0 || (!isBits && type != ScalarType::U32 && type != ScalarType::S32) || isBits != (op >= 3))
    return unsupported();
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!expectOperands(3, 3) || !destination(o[0], type, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = reduxHandler(static_cast<ReduceOp>(op), type == ScalarType::S32);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeActivemask() {
  Form form(*in_);
  Decoded decoded;
  if (form.takeType() != ScalarType::B32)
    return unsupported();
  if (!expectOperands(1, 1) || !destination(in_->operands[0], ScalarType::B32, decoded.d))
    return false;
  decoded.handler = activeMaskHandler();
  return finish(form, decoded);
}

bool FunctionDecoder::decodeElect() {
  Form form(*in_);
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!form.take("sync") || !expectOperands(2, 2) || o[0].kind != Operand::Kind::Pair)
    return unsupported();
  if ((o[0].elements[0].kind != Operand::Kind::Sink && !destination(o[0].elements[0], ScalarType::B32, decoded.d)) ||
      !predicateDestination(o[0].elements[1], decoded.c) || !source(o[1], ScalarType::U32, decoded.e))
    return false;
  if (decoded.c == kNoOperand)
    decoded.c = allocateRegister(0);
  decoded.kind = Kind::WarpSync;
  decoded.handler = electHandler();
  return finish(form, decoded);
}

bool FunctionDecoder::decodeNanosleep() {
  Form form(*in_);
  Decoded decoded;
  if (form.takeType() != ScalarType::U32)
    return unsupported();
  if (!expectOperands(1, 1) || !source(in_->operands[0], ScalarType::U32, decoded.a))
    return false;
  decoded.handler = nanosleepHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
