// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/module/kernel.h"

#include "emulator/driver/driver.h"

#include <cstdio>

namespace tenon::emulator {

Kernel *findKernel(const void *handle) {
  Kernel *kernel = static_cast<Kernel *>(const_cast<void *>(handle));
  return driver().kernels.count(kernel) ? kernel : nullptr;
}

CUresult askFor(const Kernel &kernel) {
  const std::string &refusal = kernel.decoded->refusal;
  if (refusal.empty())
    return CUDA_SUCCESS;
  Driver &driver = tenon::emulator::driver();
  driver.lastReport = refusal;
  if (!driver.reportsAreRead) {
    fflush(stdout);
    fprintf(stderr, "tenon emulator: %s", refusal.c_str());
  }
  return CUDA_ERROR_INVALID_PTX;
}

} // namespace tenon::emulator
