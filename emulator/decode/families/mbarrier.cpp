// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier.* and cp.async.mbarrier.arrive.
#include "emulator/async/mbarrier_ops.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

MemorySpace takeSharedSpace(Form &form) {
  if (form.take("shared::cluster"))
    return MemorySpace::SharedCluster;
  return form.take("shared") || form.take("shared::cta") ? MemorySpace::Shared : MemorySpace::Generic;
}
/// One thread runs at a time and sees memory as it is: ordering and scope change nothing.
void takeOrder(Form &form) {
  form.takeOneOf({"relaxed", "acquire", "release"});
  form.takeOneOf({"cta", "cluster"});
}

bool mbarrierObject(Decoder &decoder, const Operand &operand, Form &form, Decoded &decoded) {
  MemorySpace space = takeSharedSpace(form);
  if (!decoder.address(operand, space, decoded))
    return false;
  if (decoded.addressMode == AddressMode::FrameLocal)
    return decoder.unsupported("a local address");
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = decoder.cacheSlot();
  return true;
}

/// state, [object] {, count}; the state may be left out or be a sink.
bool decodeMbarrierArrivals(Decoder &decoder, Form &form, MbarrierOp op) {
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.expectOperands(1, 3))
    return false;
  size_t first = o[0].kind == Operand::Kind::Address ? 0 : 1;
  bool wantsCount =
      op == MbarrierOp::ArriveExpectTx || op == MbarrierOp::ArriveDropExpectTx || op == MbarrierOp::ArriveNoComplete;
  Decoded decoded;
  if (!decoder.expectOperands(first + (wantsCount ? 2 : 1), first + 2))
    return false;
  if (first == 1 && o[0].kind != Operand::Kind::Sink && !decoder.destination(o[0], ScalarType::B64, decoded.d))
    return false;
  if (!mbarrierObject(decoder, o[first], form, decoded) ||
      (o.size() == first + 2 && !decoder.source(o[first + 1], ScalarType::U32, decoded.b)))
    return false;
  if (form.takeType() != ScalarType::B64)
    return decoder.unsupported();
  decoded.handler = mbarrierHandler(op);
  return decoder.finish(form, decoded);
}

bool decodeMbarrierArrive(Decoder &decoder, Form &form) {
  bool expects = form.take("expect_tx"), noComplete = form.take("noComplete");
  takeOrder(form);
  if (expects && noComplete)
    return decoder.unsupported();
  return decodeMbarrierArrivals(decoder, form,
                                expects      ? MbarrierOp::ArriveExpectTx
                                : noComplete ? MbarrierOp::ArriveNoComplete
                                             : MbarrierOp::Arrive);
}

/// predicate, [object], state or parity {, time hint}. try_wait may wait; it need not.
bool decodeMbarrierWait(Decoder &decoder, Form &form, bool isTry) {
  bool parity = form.take("parity");
  takeOrder(form);
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  uint32_t hint = kNoOperand;
  if (!decoder.expectOperands(3, isTry ? 4 : 3) || !decoder.predicateDestination(o[0], decoded.d) ||
      !mbarrierObject(decoder, o[1], form, decoded) ||
      !decoder.source(o[2], parity ? ScalarType::U32 : ScalarType::B64, decoded.b) ||
      (o.size() == 4 && !decoder.source(o[3], ScalarType::U32, hint)))
    return false;
  if (form.takeType() != ScalarType::B64)
    return decoder.unsupported();
  decoded.handler = mbarrierHandler(parity ? MbarrierOp::TestParity : MbarrierOp::TestState);
  return decoder.finish(form, decoded);
}

bool decodeMbarrier(Decoder &decoder) {
  Form form(decoder.in());
  const ptx::List<Operand> &o = decoder.in().operands;
  Decoded decoded;
  if (form.take("pending_count")) {
    if (form.takeType() != ScalarType::B64)
      return decoder.unsupported();
    if (!decoder.expectOperands(2, 2) || !decoder.destination(o[0], ScalarType::B32, decoded.d) ||
        !decoder.source(o[1], ScalarType::B64, decoded.a))
      return false;
    decoded.handler = pendingCountHandler();
    return decoder.finish(form, decoded);
  }
  if (form.take("arrive"))
    return decodeMbarrierArrive(decoder, form);
  if (form.take("arrive_drop")) {
    bool expects = form.take("expect_tx");
    takeOrder(form);
    return decodeMbarrierArrivals(decoder, form, expects ? MbarrierOp::ArriveDropExpectTx : MbarrierOp::ArriveDrop);
  }
  int test = form.takeOneOf({"test_wait", "try_wait"});
  if (test >= 0)
    return decodeMbarrierWait(decoder, form, test == 1);
  int op = form.takeOneOf({"init", "inval", "expect_tx", "complete_tx"});
  constexpr MbarrierOp kOps[] = {MbarrierOp::Init, MbarrierOp::Inval, MbarrierOp::ExpectTx, MbarrierOp::CompleteTx};
  if (op < 0)
    return decoder.unsupported();
  takeOrder(form);
  size_t operands = op == 1 ? 1 : 2;
  if (!decoder.expectOperands(operands, operands) || !mbarrierObject(decoder, o[0], form, decoded) ||
      (operands == 2 && !decoder.source(o[1], ScalarType::U32, decoded.b)))
    return false;
  if (ScalarType type = form.takeType(); type != ScalarType::B64)
    return decoder.unsupported();
  decoded.handler = mbarrierHandler(kOps[op]);
  return decoder.finish(form, decoded);
}

/// cp.async.mbarrier.arrive{.noinc}: the copies of the thread so far are done here, so the arrival is made at once.
bool decodeCopyMbarrier(Decoder &decoder) {
  Form form(decoder.in());
  form.take("async");
  form.take("mbarrier");
  Decoded decoded;
  if (!form.take("arrive"))
    return decoder.unsupported();
  bool noInc = form.take("noinc");
  if (!decoder.expectOperands(1, 1) || !mbarrierObject(decoder, decoder.in().operands[0], form, decoded))
    return false;
  if (form.takeType() != ScalarType::B64)
    return decoder.unsupported();
  decoded.handler = mbarrierHandler(noInc ? MbarrierOp::ArriveOnCopiesNoInc : MbarrierOp::ArriveOnCopies);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family mbarrier() {
  static constexpr Opcode kRows[] = {
      {"mbarrier", &decodeMbarrier},
      {"cp.async.mbarrier", &decodeCopyMbarrier},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
