// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many blocks of a kernel a multiprocessor holds at once.
#pragma once

#include "emulator/driver/module/kernel.h"

#include <cstddef>

namespace tenon::emulator {

/// Blocks of `threads` threads that fit on one multiprocessor of the kernel's device; 0: a block cannot be launched.
int blocksPerMultiprocessor(const Kernel &kernel, int threads, size_t dynamicShared);

} // namespace tenon::emulator
