// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that launches a kernel: made from a caller's arguments, and run.
#pragma once

#include "emulator/driver/work/work.h"

namespace tenon::emulator {

/// Copies the caller's arguments. `kernel` is live. cluster: null for the kernel's own. Returns the driver's code for
/// what is wrong.
CUresult makeKernelWork(Kernel *kernel, Dim3 grid, Dim3 block, const Dim3 *cluster, unsigned sharedBytes,
                        bool cooperative, void **parameters, void **extra, KernelWork &out);
/// Whether the kernel takes grid, block, cluster and shared memory; asked again when an attribute of a node changed.
CUresult validateKernelWork(const KernelWork &work);
Fault runKernel(Driver &driver, Context *context, const KernelWork &work);

} // namespace tenon::emulator
