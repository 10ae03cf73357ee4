// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier: a barrier that is an object of 64 bits in shared memory. Threads arrive, and asynchronous copies count
// their bytes against it (tx-count); when nothing is pending and no bytes are awaited, the phase completes: the parity
// flips and the expected arrivals are pending again. Waiting is asking: test_wait and try_wait say whether a phase
// completed.
//
// The bits of the object are the device's own business; here, from the lowest: expected arrivals (20), pending arrivals
// (20), parity (1), awaited bytes (21, signed), a mark that it was initialised (2).
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

inline constexpr uint32_t kMbarrierMost = (1u << 20) - 1; // arrivals, and bytes awaited

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

/// True: the bits are those of an initialised object.
bool isMbarrier(uint64_t bits);
/// Of the phase that is not complete.
bool mbarrierParity(uint64_t bits);
/// Bytes that came for the object. Returns what is wrong, or null.
const char *completeBytes(uint64_t *object, uint32_t bytes);

/// `a`: address of the object, `imm` its offset, `flag`: MemorySpace.
Handler mbarrierHandler(MbarrierOp op);
/// mbarrier.pending_count: `a`: state, `d`: arrivals that were pending.
Handler pendingCountHandler();

} // namespace tenon::emulator
