// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that becomes accessible, or goes, when its turn comes in a stream or a graph.
#pragma once

#include "emulator/driver/work/work.h"

namespace tenon::emulator {

struct Device;

/// Reserves the address of an allocation, in `parameters` too; the memory is there once the work has run.
CUresult reserveAllocation(Device &device, CUDA_MEM_ALLOC_NODE_PARAMS &parameters, MemoryAllocWork &out);
Fault runAllocation(Driver &driver, const MemoryAllocWork &work);
Fault runRelease(Driver &driver, const MemoryFreeWork &work);

} // namespace tenon::emulator
