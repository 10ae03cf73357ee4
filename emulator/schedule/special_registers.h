// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What special registers hold: %tid, %ctaid, %laneid and the like. Each is an array of 32 lanes in the memory of a warp
// (machine.h, kSpecialBase), filled when a block is made and, for what follows from the block's place in the grid,
// again when one starts.
#pragma once

#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/machine.h"

namespace tenon::emulator {

/// Whether it depends on which block of the launch it is; if not, on the launch and the thread's place in the block.
bool changesWithBlock(Special special);
/// block: with its identity, and its warps where `special` is SharedBase.
uint32_t specialValue(Special special, const Launch &launch, const Block &block, uint32_t warp, uint32_t lane);

} // namespace tenon::emulator
