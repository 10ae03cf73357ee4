// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers of mbarrier.* and cp.async.mbarrier.arrive (mbarrier.h is the object that they work on).
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

enum class MbarrierOp : uint8_t {
  Init, // `b`: expected arrivals
  Inval,
  Arrive,              // `b`: how many; `d`: the state before, or kNoOperand
  ArriveNoComplete,    // as Arrive, and must not complete the phase
  ArriveDrop,          // as Arrive, and expects so many fewer from the next phase on
  ArriveDropExpectTx,  // ArriveDrop of one; `b`: bytes awaited in addition
  ArriveExpectTx,      // one arrival; `b`: bytes awaited in addition
  ExpectTx,            // `b`: bytes
  CompleteTx,          // `b`: bytes that came
  TestState,           // `d`: predicate, `b`: state
  TestParity,          // `d`: predicate, `b`: parity
  ArriveOnCopies,      // cp.async.mbarrier.arrive
  ArriveOnCopiesNoInc, // ... .noinc
};

/// `a`: address of the object, `imm` its offset, `flag`: MemorySpace.
Handler mbarrierHandler(MbarrierOp op);
/// mbarrier.pending_count: `a`: state, `d`: arrivals that were pending.
Handler pendingCountHandler();

} // namespace tenon::emulator
