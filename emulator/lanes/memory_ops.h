// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st, by space, element size and number of elements. Null: there is no such instruction.
#pragma once

#include "emulator/check/lane_addresses.h"

namespace tenon::emulator::TENON_LEVEL {

/// isStrong: .volatile, .relaxed, .acquire, .release and .mmio.
Handler loadHandler(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong);
Handler storeHandler(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong);
/// .v2, .v4, .v8: operands are the run at `list` of the function's operand table (vector_memory_ops.cpp).
Handler vectorLoadHandler(MemorySpace space, uint32_t bytes, uint32_t count);
Handler vectorStoreHandler(MemorySpace space, uint32_t bytes, uint32_t count);

} // namespace tenon::emulator::TENON_LEVEL
