// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slow side of every memory access: which lanes may go on, and the report of the first that may not. A report names
// kernel, block, thread, address, what lies nearest, the PTX line and, when the PTX says, the source line.
#pragma once

#include "emulator/machine/handlers.h"
#include "emulator/machine/machine.h"

#include <string>

namespace tenon::emulator {

/// Bounds and alignment by lane, for an access that the handler's quick check did not pass. addresses: [32] addresses
/// in `space`, replaced by host addresses. size: bytes, a power of two. Remembers the range of a global access for the
/// instruction's next time. Returns the lanes that may be accessed; the rest of `mask` is a fault of the executor.
uint32_t resolveSlowly(Warp &warp, const Decoded &instruction, uint32_t mask, MemorySpace space, uint32_t size,
                       bool isWrite, int64_t *addresses);

/// The operands of a vector instruction.
const uint32_t *vectorOperands(const Warp &warp, const Decoded &instruction);

/// Stops the kernel: `what` is said of lane `lane` at `instruction`. code: a CUresult. The first fault stays.
void raiseFault(Warp &warp, const Decoded &instruction, uint32_t lane, int code, const std::string &what);

/// "thread (3,0,0) of block (1,0,0)".
std::string threadName(const Warp &warp, uint32_t lane);
/// "kernels.ptx:31:2: ld.global.f32 %f1, [%rd8]; (kernels.cu:14)".
std::string placeName(const FunctionCode &function, uint32_t instruction);

} // namespace tenon::emulator
