// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stops a kernel: the report names kernel, block, thread, the PTX line and, when the PTX says, the source line.
#pragma once

#include "emulator/machine/machine.h"

#include <string>

namespace tenon::emulator {

/// Stops the kernel: `what` is said of lane `lane` at `instruction`. code: a CUresult. The first fault stays.
void raiseFault(Warp &warp, const Decoded &instruction, uint32_t lane, int code, const std::string &what);

/// "thread (3,0,0) of block (1,0,0)".
std::string threadName(const Warp &warp, uint32_t lane);
/// "kernels.ptx:31:2: ld.global.f32 %f1, [%rd8]; (kernels.cu:14)".
std::string placeName(const FunctionCode &function, uint32_t instruction);

} // namespace tenon::emulator
