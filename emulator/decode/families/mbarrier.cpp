// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier.* and cp.async.mbarrier.arrive.
#include "emulator/async/mbarrier_ops.h"
#include "emulator/decode/decoder.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

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

} // namespace

bool FunctionDecoder::mbarrierObject(const Operand &operand, Form &form, Decoded &decoded) {
  MemorySpace space = takeSharedSpace(form);
  if (!address(operand, space, decoded))
    return false;
  if (decoded.addressMode == AddressMode::FrameLocal)
    return unsupported("a local address");
  decoded.flag = static_cast<uint8_t>(space);
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  return true;
}

bool FunctionDecoder::decodeMbarrier() {
  Form form(*in_);
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (form.take("pending_count")) {
    if (form.takeType() != ScalarType::B64)
      return unsupported();
    if (!expectOperands(2, 2) || !destination(o[0], ScalarType::B32, decoded.d) ||
        !source(o[1], ScalarType::B64, decoded.a))
      return false;
    decoded.handler = pendingCountHandler();
    return finish(form, decoded);
  }
  if (form.take("arrive"))
    return decodeMbarrierArrive(form);
  if (form.take("arrive_drop")) {
    bool expects = form.take("expect_tx");
    takeOrder(form);
    return decodeMbarrierArrivals(form, expects ? MbarrierOp::ArriveDropExpectTx : MbarrierOp::ArriveDrop);
  }
  int test = form.takeOneOf({"test_wait", "try_wait"});
  if (test >= 0)
    return decodeMbarrierWait(form, test == 1);
  int op = form.takeOneOf({"init", "inval", "expect_tx", "complete_tx"});
  constexpr MbarrierOp kOps[] = {MbarrierOp::Init, MbarrierOp::Inval, MbarrierOp::ExpectTx, MbarrierOp::CompleteTx};
  if (op < 0)
    return unsupported();
  takeOrder(form);
  size_t operands = op == 1 ? 1 : 2;
  if (!expectOperands(operands, operands) || !mbarrierObject(o[0], form, decoded) ||
      (operands == 2 && !source(o[1], ScalarType::U32, decoded.b)))
    return false;
  if (ScalarType type = form.takeType(); type != ScalarType::B64)
    return unsupported();
  decoded.handler = mbarrierHandler(kOps[op]);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeMbarrierArrive(Form &form) {
  bool expects = form.take("expect_tx"), noComplete = form.take("noComplete");
  takeOrder(form);
  if (expects && noComplete)
    return unsupported();
  return decodeMbarrierArrivals(form, expects      ? MbarrierOp::ArriveExpectTx
                                      : noComplete ? MbarrierOp::ArriveNoComplete
                                                   : MbarrierOp::Arrive);
}

/// state, [object] {, count}; the state may be left out or be a sink.
bool FunctionDecoder::decodeMbarrierArrivals(Form &form, MbarrierOp op) {
  const ptx::List<Operand> &o = in_->operands;
  if (!expectOperands(1, 3))
    return false;
  size_t first = o[0].kind == Operand::Kind::Address ? 0 : 1;
  bool wantsCount =
      op == MbarrierOp::ArriveExpectTx || op == MbarrierOp::ArriveDropExpectTx || op == MbarrierOp::ArriveNoComplete;
  Decoded decoded;
  if (!expectOperands(first + (wantsCount ? 2 : 1), first + 2))
    return false;
  if (first == 1 && o[0].kind != Operand::Kind::Sink && !destination(o[0], ScalarType::B64, decoded.d))
    return false;
  if (!mbarrierObject(o[first], form, decoded) ||
      (o.size() == first + 2 && !source(o[first + 1], ScalarType::U32, decoded.b)))
    return false;
  if (form.takeType() != ScalarType::B64)
    return unsupported();
  decoded.handler = mbarrierHandler(op);
  return finish(form, decoded);
}

/// predicate, [object], state or parity {, time hint}. try_wait may wait; it need not.
bool FunctionDecoder::decodeMbarrierWait(Form &form, bool isTry) {
  bool parity = form.take("parity");
  takeOrder(form);
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  uint32_t hint = kNoOperand;
  if (!expectOperands(3, isTry ? 4 : 3) || !predicateDestination(o[0], decoded.d) ||
      !mbarrierObject(o[1], form, decoded) || !source(o[2], parity ? ScalarType::U32 : ScalarType::B64, decoded.b) ||
      (o.size() == 4 && !source(o[3], ScalarType::U32, hint)))
    return false;
  if (form.takeType() != ScalarType::B64)
    return unsupported();
  decoded.handler = mbarrierHandler(parity ? MbarrierOp::TestParity : MbarrierOp::TestState);
  return finish(form, decoded);
}

/// cp.async.mbarrier.arrive{.noinc}: the copies of the thread so far are done here, so the arrival is made at once.
bool FunctionDecoder::decodeCopyMbarrier(Form &form) {
  Decoded decoded;
  if (!form.take("arrive"))
    return unsupported();
  bool noInc = form.take("noinc");
  if (!expectOperands(1, 1) || !mbarrierObject(in_->operands[0], form, decoded))
    return false;
  if (form.takeType() != ScalarType::B64)
    return unsupported();
  decoded.handler = mbarrierHandler(noInc ? MbarrierOp::ArriveOnCopiesNoInc : MbarrierOp::ArriveOnCopies);
  return finish(form, decoded);
}

} // namespace tenon::emulator
