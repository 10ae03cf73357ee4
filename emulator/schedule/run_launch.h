// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs all blocks of a launch: one scheduler, or one on each of several worker threads, which take clusters from the
// same grid (machine/grid.h).
#pragma once

#include "emulator/handlers/builtins.h"
#include "emulator/machine/machine.h"

namespace tenon::emulator {

struct LaunchResult {
  Fault fault;
  uint64_t instructions = 0, threadInstructions = 0;
  std::vector<std::string> notes; // what is no mistake and yet worth knowing
};
/// Runs all blocks, on at most `workers` threads. orderSeed: blocks and warps run in an order by this seed; 0: as they
/// are numbered.
LaunchResult runLaunch(const Launch &launch, Memory &memory, DeviceServices &services, uint32_t workers,
                       uint64_t orderSeed = 0);

} // namespace tenon::emulator
