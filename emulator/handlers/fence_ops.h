// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences and bar.warp.sync order threads. Memory here is always seen as it is, so only the race detector listens.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// fence, membar. `flag` != 0: a proxy fence.
Handler fenceHandler();
/// bar.warp.sync: all lanes of the mask have arrived.
Handler meetHandler();

} // namespace tenon::emulator
