// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st while shadow memory is kept (check/shadow_checker.h): there is no quick way, every lane's access is
// checked.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// Null as HandlerTable::load and store.
Handler checkedLoadHandler(MemorySpace space, uint32_t bytes, uint32_t count);
Handler checkedStoreHandler(MemorySpace space, uint32_t bytes, uint32_t count);

} // namespace tenon::emulator
