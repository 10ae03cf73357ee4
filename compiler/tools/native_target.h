// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --target=native: the architectures of the devices in this machine. The CUDA driver is asked for nothing else, and
// only then: a compiler needs no GPU.
#pragma once

#include "abi/target_arch.h"
#include "support/result.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// What code runs best on a device of compute capability `number` (10 * major + minor): "sm_90a" for 90, where there is
/// such a target. NotFound: the architecture is not known here.
Result<abi::TargetArch> bestTargetFor(uint16_t number);

/// `names` with each "native" replaced by the targets of the devices, each once. Unavailable: there is no driver, or no
/// device. Environment: TENON_CUDA_DRIVER and TENON_EMULATOR_LIBRARY, as the runtime has them (runtime/README.md).
Result<std::vector<std::string>> replaceNative(const std::vector<std::string> &names);

} // namespace tenon::compiler
