// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of a loaded module. CUkernel and CUfunction are the same object here.
#pragma once

#include "emulator/machine/decoded_kernel.h"

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
  std::map<size_t, std::string> readOnlyParameters; // index, what a report calls it
};

/// The live kernel of a handle, or null.
Kernel *findKernel(const void *handle);

} // namespace tenon::emulator
