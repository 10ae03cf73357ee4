// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/run_launch.h"

#include "emulator/machine/grid.h"
#include "emulator/machine/run_control.h"
#include "emulator/schedule/scheduler.h"
#include "emulator/schedule/workers.h"

#include <algorithm>

namespace tenon::emulator {

/// A kernel that returns at once: what a grid of it does need not be run.
static bool isEmpty(const DecodedKernel &kernel) {
  const Decoded &first = kernel.functions[0]->code[0];
  return (first.kind == Kind::Exit || first.kind == Kind::Return) && first.predicate == kNoOperand;
}

LaunchResult runLaunch(const Launch &launch, Memory &memory, DeviceServices &services, uint32_t workers,
                       uint64_t orderSeed) {
  if (isEmpty(*launch.kernel)) {
    const uint64_t threads = launch.block.count();
    LaunchResult nothing;
    nothing.instructions = launch.grid.count() * ((threads + kLanes - 1) / kLanes);
    nothing.threadInstructions = launch.grid.count() * threads;
    return nothing;
  }
  uint64_t clusters = launch.grid.count() / launch.cluster.count();
  workers = static_cast<uint32_t>(std::min<uint64_t>(workers, clusters));
  if (launch.checks.shadowed()) // shadow memory is made for one
    workers = 1;
  // Blocks of a cooperative launch wait for each other: they are spread evenly.
  Grid grid(clusters, workers, launch.gridWorkspace != 0);
  LaunchResult total;
  auto run = [&](bool isShared) {
    Scheduler scheduler(launch, memory, services, grid, isShared);
    scheduler.setOrderSeed(orderSeed);
    Fault fault = scheduler.run();
    std::lock_guard<std::recursive_mutex> lock(grid.exclusive);
    if (fault.code && !total.fault.code)
      total.fault = std::move(fault);
    total.instructions += scheduler.instructions();
    total.threadInstructions += scheduler.threadInstructions();
    for (std::string &note : scheduler.notes())
      total.notes.push_back(std::move(note));
  };
  if (launch.control)
    ++launch.control->running;
  if (workers <= 1)
    run(false);
  else
    emulator::workers().run(workers - 1, [&] { run(true); });
  if (launch.control) {
    --launch.control->running;
    launch.control->isInterrupted = false;
  }
  return total;
}

} // namespace tenon::emulator
