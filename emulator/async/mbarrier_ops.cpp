// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/mbarrier_ops.h"

#include "emulator/async/async.h"
#include "emulator/async/copy_async.h"
#include "emulator/async/mbarrier.h"
#include "emulator/check/access_check.h"
#include "emulator/check/shadow_checker.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"

#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;
using TENON_LEVEL::writeMask;

/// One thread's operation. Returns what is wrong, or null.
const char *apply(MbarrierOp op, Mbarrier &barrier, uint64_t operand) {
  switch (op) {
  case MbarrierOp::Init:
    if (operand == 0 || operand > kMbarrierMost)
      return "mbarrier.init of no arrivals, or more than 2^20-1";
    barrier = {};
    barrier.expected = barrier.pending = static_cast<uint32_t>(operand);
    return nullptr;
  case MbarrierOp::ArriveDrop:
  case MbarrierOp::Arrive:
  case MbarrierOp::ArriveNoComplete:
  case MbarrierOp::ArriveOnCopiesNoInc:
    if (operand == 0 || operand > barrier.pending)
      return "mbarrier: more arrivals than the phase has pending";
    if (op == MbarrierOp::ArriveNoComplete && operand == barrier.pending)
      return "mbarrier.arrive.noComplete completes the phase";
    if (op == MbarrierOp::ArriveDrop)
      barrier.expected -= static_cast<uint32_t>(operand);
    barrier.pending -= static_cast<uint32_t>(operand);
    barrier.completeIfDone();
    return nullptr;
  case MbarrierOp::ArriveDropExpectTx:
  case MbarrierOp::ArriveExpectTx:
  case MbarrierOp::ExpectTx:
    barrier.bytes += static_cast<int64_t>(operand);
    if (operand > kMbarrierMost || barrier.bytes > static_cast<int64_t>(kMbarrierMost))
      return "mbarrier: more than 2^20-1 bytes awaited";
    if (op == MbarrierOp::ArriveExpectTx)
      return apply(MbarrierOp::Arrive, barrier, 1);
    if (op == MbarrierOp::ArriveDropExpectTx)
      return apply(MbarrierOp::ArriveDrop, barrier, 1);
    return nullptr;
  case MbarrierOp::CompleteTx:
    return barrier.completeBytes(operand);
  // Pending grows by one and shrinks again when the copies are done, which they are by then.
  case MbarrierOp::ArriveOnCopies:
  case MbarrierOp::Inval:
  case MbarrierOp::TestState:
  case MbarrierOp::TestParity:
    return nullptr;
  }
  return nullptr;
}

bool isTest(MbarrierOp op) {
  return op == MbarrierOp::TestState || op == MbarrierOp::TestParity;
}
bool isState64(MbarrierOp op) {
  return op == MbarrierOp::TestState;
}

template <MbarrierOp Op> void operate(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  bool wide = i.addressMode == AddressMode::Register64;
  MemorySpace space = static_cast<MemorySpace>(i.flag);
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint64_t address = (wide ? at<uint64_t>(warp, i.a)[l] : at<uint32_t>(warp, i.a)[l]) + static_cast<uint64_t>(i.imm);
    addresses[l] = static_cast<int64_t>(space == MemorySpace::Shared ? static_cast<uint32_t>(address) : address);
  }
  uint32_t good = resolveSlowly(warp, i, mask, space, 8, !isTest(Op), addresses), passed = 0;
  if (Op == MbarrierOp::ArriveOnCopies || Op == MbarrierOp::ArriveOnCopiesNoInc)
    finishAllCopies(warp, good);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    uint64_t *cell = reinterpret_cast<uint64_t *>(addresses[l]);
    uint64_t operand = i.b == kNoOperand ? 1 : isState64(Op) ? at<uint64_t>(warp, i.b)[l] : at<uint32_t>(warp, i.b)[l];
    if (Op != MbarrierOp::Init && !Mbarrier::isValid(*cell)) {
      raiseFault(warp, i, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "the mbarrier object was not initialised");
      return;
    }
    Mbarrier barrier = Mbarrier::unpack(*cell);
    if (isTest(Op)) {
      bool before = Op == MbarrierOp::TestState ? Mbarrier::unpack(operand).parity : (operand & 1) != 0;
      if (before == barrier.parity && completeCopiesOf(warp, cell))
        barrier = Mbarrier::unpack(*cell);
      passed |= static_cast<uint32_t>(before != barrier.parity) << l;
      if (ShadowChecker *checker = warp.executor->checker; checker && before != barrier.parity)
        checker->passMbarrier(warp, l, cell);
      continue;
    }
    uint64_t state = *cell;
    if (const char *wrong = apply(Op, barrier, operand)) {
      raiseFault(warp, i, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, wrong);
      return;
    }
    *cell = Op == MbarrierOp::Inval ? 0 : barrier.pack();
    if (ShadowChecker *checker = warp.executor->checker; checker && Op != MbarrierOp::Init && Op != MbarrierOp::Inval)
      checker->arriveAtMbarrier(warp, l, cell, Mbarrier::unpack(state).parity != barrier.parity);
    if (i.d != kNoOperand)
      at<uint64_t>(warp, i.d)[l] = state;
  }
  if (isTest(Op) && i.d != kNoOperand)
    writeMask(warp, i.d, passed, good);
  if (isTest(Op) && passed != good)
    warp.yields = true;
  if (!isTest(Op) || passed)
    ++warp.block->cluster->events;
}

void pendingCount(Warp &warp, const Decoded &i, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    at<uint32_t>(warp, i.d)[l] = Mbarrier::unpack(at<uint64_t>(warp, i.a)[l]).pending;
  }
}

} // namespace

Handler mbarrierHandler(MbarrierOp op) {
  switch (op) {
  case MbarrierOp::Init:
    return &operate<MbarrierOp::Init>;
  case MbarrierOp::Inval:
    return &operate<MbarrierOp::Inval>;
  case MbarrierOp::Arrive:
    return &operate<MbarrierOp::Arrive>;
  case MbarrierOp::ArriveNoComplete:
    return &operate<MbarrierOp::ArriveNoComplete>;
  case MbarrierOp::ArriveDrop:
    return &operate<MbarrierOp::ArriveDrop>;
  case MbarrierOp::ArriveDropExpectTx:
    return &operate<MbarrierOp::ArriveDropExpectTx>;
  case MbarrierOp::ArriveExpectTx:
    return &operate<MbarrierOp::ArriveExpectTx>;
  case MbarrierOp::ExpectTx:
    return &operate<MbarrierOp::ExpectTx>;
  case MbarrierOp::CompleteTx:
    return &operate<MbarrierOp::CompleteTx>;
  case MbarrierOp::TestState:
    return &operate<MbarrierOp::TestState>;
  case MbarrierOp::TestParity:
    return &operate<MbarrierOp::TestParity>;
  case MbarrierOp::ArriveOnCopies:
    return &operate<MbarrierOp::ArriveOnCopies>;
  case MbarrierOp::ArriveOnCopiesNoInc:
    return &operate<MbarrierOp::ArriveOnCopiesNoInc>;
  }
  return nullptr;
}
Handler pendingCountHandler() {
  return &pendingCount;
}

} // namespace tenon::emulator
