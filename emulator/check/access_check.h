// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slow side of every memory access: which lanes may go on, and the fault of the first that may not
// (machine/fault.h). The quick side is lane_addresses.h.
#pragma once

#include "emulator/machine/handlers.h"
#include "emulator/machine/machine.h"

namespace tenon::emulator {

/// Bounds and alignment by lane, for an access that the handler's quick check did not pass. addresses: [32] addresses
/// in `space`, replaced by host addresses. size: bytes, a power of two. Remembers the range of a global access for the
/// instruction's next time. values: [32][size], what each lane will write; null where that is not known. Returns the
/// lanes that may be accessed; the rest of `mask` is a fault of the executor.
uint32_t resolveSlowly(Warp &warp, const Decoded &instruction, uint32_t mask, MemorySpace space, uint32_t size,
                       bool isWrite, int64_t *addresses, const uint8_t *values = nullptr);
/// Host addresses of the memory operand (`a`, `imm`, in `space`) of the active lanes, each of `size` bytes, a power of
/// two. Returns the lanes that may be accessed; the others are a fault.
uint32_t resolveLanes(Warp &warp, const Decoded &instruction, uint32_t mask, MemorySpace space, uint32_t size,
                      bool isWrite, int64_t *addresses);

/// A store under shadow memory: lane after lane, each checked with what it writes and then done, so that a lane is seen
/// to write what another has written. values: [32][size].
void storeLanes(Warp &warp, const Decoded &i, uint32_t mask, MemorySpace space, uint32_t size, const uint8_t *values);

} // namespace tenon::emulator
