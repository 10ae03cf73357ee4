// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers of mapa, getctarank and barrier.cluster.arrive (machine/cluster.h says what a cluster is). The scheduler
// completes the barrier.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// mapa: d = address `a` in the block of rank `b`. Window: 32-bit or 64-bit shared addresses, or generic ones.
Handler mapHandler(uint32_t bytes);
/// getctarank: d (32 bits) = rank that the address `a` of `bytes` holds.
Handler rankHandler(uint32_t bytes);
/// barrier.cluster.arrive.
Handler clusterArriveHandler();

} // namespace tenon::emulator
