// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of a loaded module. CUkernel and CUfunction are the same object here.
#pragma once

#include "emulator/machine/decoded_kernel.h"

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace tenon::emulator {

struct Module;

struct Kernel {
  Module *module = nullptr;
  std::unique_ptr<DecodedKernel> decoded;
  int maxDynamicShared = 0; // set by the opt-in attribute; the default is what is left of 48 KiB
  int carveout = -1;
  bool nonPortableCluster = false;
  std::map<std::pair<size_t, size_t>, std::string> readOnlyPointers; // parameter, byte in it; what a report says
};

/// What a call that asks for the kernel has to return: CUDA_SUCCESS, or an error when the emulator cannot run it; the
/// reasons are then the last report. A driver that loads lazily compiles a kernel at that time too.
CUresult askFor(const Kernel &kernel);

/// The live kernel of a handle, or null.
Kernel *findKernel(const void *handle);

} // namespace tenon::emulator
