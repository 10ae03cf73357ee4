// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters that a kernel must not write through.
#pragma once

#include "emulator/driver/module/kernel.h"
#include "emulator/machine/machine.h"
#include "emulator/memory/memory.h"

#include <cstdint>
#include <vector>

namespace tenon::emulator {

/// What a launch with this parameter block may not write: from each pointer that was declared read-only, or the address
/// of a tensor map that was, to the next pointer among the parameters, or to the end of the allocation. Not what a
/// writable parameter points to as well.
std::vector<ReadOnlyRange> readOnlyRanges(const Kernel &kernel, const Memory &memory,
                                          const std::vector<uint8_t> &parameters);

} // namespace tenon::emulator
