// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which drivers a tool would run on: for --version.
#pragma once

#include "runtime/cuda/driver.h"

#include <string>

namespace tenon::runtime {

/// A line for the CUDA driver (its version, or why there is none) and one for the emulator (its path).
std::string driverVersions(const cuda::DriverSearch &search);

} // namespace tenon::runtime
