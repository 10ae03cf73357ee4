// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Giving work to a stream, and waiting for it.
#pragma once

#include "emulator/driver/operation.h"
#include "emulator/driver/work/stream.h"
#include "emulator/driver/work/work.h"

namespace tenon::emulator {

/// It runs in order, or becomes a node of the graph that the stream captures.
CUresult enqueue(Stream &stream, Work &&work);
/// The same in a stream that does not capture. `alsoAfter`: what else it comes after; null: nothing.
void submitTo(Stream &stream, Work &&work, const OperationPtr &alsoAfter = nullptr);
/// Waits for the work of a stream, also for that of the streams that the default stream is ordered with.
CUresult finishStream(Stream &stream);

} // namespace tenon::emulator
