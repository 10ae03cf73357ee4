// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async and its groups: copies of 4 to 16 bytes from global to shared memory. The source is read when the copy is
// issued; the bytes come to shared memory when the thread waits for them.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// cp.async: [d address in `a`/imm] shared, [e] global address, `flag` bytes, `c` source size or kNoOperand.
Handler copyAsyncHandler();
Handler commitGroupHandler();
/// `imm`: groups that may stay pending; -1: none of any kind (wait_all).
Handler waitGroupHandler();
/// Makes the copies that the lanes of `mask` have pending, committed or not, visible.
void finishAllCopies(Warp &warp, uint32_t mask);

} // namespace tenon::emulator
