// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/run_launch.h"

#include "emulator/machine/grid.h"
#include "emulator/schedule/scheduler.h"
#include "emulator/schedule/workers.h"

#include <algorithm>

namespace tenon::emulator {

LaunchResult runLaunch(const Launch &launch, Memory &memory, DeviceServices &services, uint32_t workers,
                       uint64_t orderSeed) {
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
  };
  if (workers <= 1) {
    run(false);
    return total;
  }
  emulator::workers().run(workers - 1, [&] { run(true); });
  return total;
}

} // namespace tenon::emulator
