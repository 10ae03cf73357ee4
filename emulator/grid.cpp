#include "emulator/grid.h"

#include "emulator/scheduler.h"

#include <algorithm>
#include <thread>

namespace tenon::emulator {

LaunchResult runLaunch(const Launch &launch, Memory &memory, DeviceServices &services, uint32_t workers,
                       uint64_t shuffle) {
  uint64_t clusters = launch.grid.count() / launch.cluster.count();
  Grid grid(clusters);
  workers = static_cast<uint32_t>(std::min<uint64_t>(workers, clusters));
  if (launch.checks.shadowed()) // shadow memory is made for one
    workers = 1;
  LaunchResult total;
  auto run = [&](bool isShared) {
    Scheduler scheduler(launch, memory, services, grid, isShared);
    scheduler.setShuffle(shuffle);
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
  std::vector<std::thread> threads;
  for (uint32_t k = 1; k < workers; ++k)
    threads.emplace_back(run, true);
  run(true);
  for (std::thread &thread : threads)
    thread.join();
  return total;
}

} // namespace tenon::emulator
