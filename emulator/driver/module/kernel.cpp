// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/module/kernel.h"

#include "emulator/driver/driver.h"

namespace tenon::emulator {

Kernel *findKernel(const void *handle) {
  Kernel *kernel = static_cast<Kernel *>(const_cast<void *>(handle));
  return driver().kernels.count(kernel) ? kernel : nullptr;
}

} // namespace tenon::emulator
