// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's fault (an illegal address, a trap, an assertion) ends CUDA for the whole process: with NVIDIA's driver
// every later call returns the same code, in every context, on every device, and no reset brings it back (seen with
// driver 580 on two H100). Only a new process works again. Those later calls have nothing to do with what failed, so
// what failed first is kept here, and their errors name it.
#pragma once

#include "support/status.h"

#include <string>

namespace tenon::runtime::cuda {

/// Keeps the first fault of the process with the driver of this path; later ones are not kept. `device`: where it was
/// seen.
void rememberFault(const std::string &driverPath, std::string_view device, const Status &fault);
/// What was kept, or "".
std::string firstFault(const std::string &driverPath);
/// Tests only: as before any fault.
void forgetFaults();

} // namespace tenon::runtime::cuda
