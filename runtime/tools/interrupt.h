// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C in a tool: a kernel that runs on the emulator ends with a report of where its warps stand, as after a timeout,
// and the process then ends with status 130. Where none runs, and at the second Ctrl-C, it ends at once.
#pragma once

#include "runtime/device/device.h"

namespace tenon::runtime {

/// From now on. On a GPU, whose kernels nobody can ask, Ctrl-C stays what it is.
void reportOnInterrupt(const Device &device);
/// Whether Ctrl-C was pressed: a tool with more to do leaves it.
bool isInterrupted();

} // namespace tenon::runtime
