// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream memory operations: a stream writes a value to memory, or waits until a value there compares. The host may
// write the value that a stream waits for, in pinned or registered memory, without a call of the driver, so waiting
// means polling.
#pragma once

#include "emulator/driver/work/work.h"

#include <string>

namespace tenon::emulator {

/// Work from the API's operations. Returns the driver's code for what is wrong with them.
CUresult makeMemoryOpsWork(Driver &driver, const CUstreamBatchMemOpParams *operations, unsigned count, unsigned flags,
                           MemoryOpsWork &out);
/// As many as can be done; true: all are. `fault` says what went wrong.
bool runMemoryOps(Driver &driver, MemoryOpsWork &work, Fault &fault);
/// Whether the next one can be done: a write can, a wait when its value is there.
bool canAdvance(Driver &driver, const MemoryOpsWork &work);
/// What is at the address of the next one: "0x7".
std::string currentValue(Driver &driver, const MemoryOpsWork &work);

} // namespace tenon::emulator
