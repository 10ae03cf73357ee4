// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C. Python's handler sets a flag that is looked at between two of its instructions, and a call that waits for a
// kernel is one instruction. On the emulator a kernel that runs is therefore ended first, with a report of where its
// warps stand; the call then fails, and Python raises KeyboardInterrupt. A GPU's kernels nobody can end.
#pragma once

#include "python/native/object/object.h"

namespace tenon::python {

/// From now on; once a process. Whatever handler there is runs as well.
void endLaunchesOnInterrupt(tenon_device_t *device);

/// What check() does, after a wait. Where Ctrl-C ended it, KeyboardInterrupt is raised, with the status's text as the
/// exception that it came in.
bool checkWait(tenon_status_t *status);

} // namespace tenon::python
