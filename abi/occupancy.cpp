// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers are handed out to warps, by 256, in each partition; threads come in warps; shared memory goes to the
// workgroup, rounded up, with what the system takes for itself from sm_80 on. All of it is compared with NVIDIA's own
// calculator by tests/unit/abi/occupancy_calculator_test.cpp.
#include "abi/occupancy.h"

#include "abi/arch_table.h"
#include "support/align.h"

namespace tenon::abi {

static uint64_t blocksByRegisters(const MultiprocessorLimits &limits, uint64_t warps, uint64_t registers) {
  const uint64_t perWarp = alignUp(registers * kWarpLanes, limits.registerGranularity);
  // A launch is checked as if warps went to four partitions evenly; also where there are two, so that a kernel runs on
  // all of a family or on none.
  if (perWarp * alignUp(warps, 4) > limits.blockRegisters)
    return 0;
  return limits.registers / limits.partitions / perWarp * limits.partitions / warps;
}

static uint64_t blocksBySharedMemory(const Architecture &arch, uint64_t bytes) {
  if (bytes > arch.limits.blockSharedBytes)
    return 0;
  const uint64_t shared = alignUp(bytes + arch.reservedSharedBytes(), arch.sharedGranularity());
  return shared == 0 ? UINT64_MAX : arch.limits.sharedBytes / shared;
}

Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes) {
  const Architecture *row = findArchitecture(arch.number);
  if (!row || threads == 0)
    return {};
  const MultiprocessorLimits &limits = row->limits;
  if (threads > kMaxBlockThreads)
    return {.blocksPerSm = 0, .limit = OccupancyLimit::Threads};
  const uint64_t warps = ceilDiv(threads, kWarpLanes);
  Occupancy best{.blocksPerSm = uint32_t(limits.threads / kWarpLanes / warps), .limit = OccupancyLimit::Threads};
  auto bound = [&](uint64_t blocks, OccupancyLimit limit) {
    if (blocks < best.blocksPerSm)
      best = {uint32_t(blocks), limit};
  };
  bound(limits.blocks, OccupancyLimit::Blocks);
  if (registers != 0)
    bound(blocksByRegisters(limits, warps, registers), OccupancyLimit::Registers);
  bound(blocksBySharedMemory(*row, sharedBytes), OccupancyLimit::SharedMemory);
  return best;
}

std::string_view spelling(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::Unknown:
    return "unknown";
  case OccupancyLimit::Threads:
    return "threads";
  case OccupancyLimit::Blocks:
    return "blocks";
  case OccupancyLimit::Registers:
    return "registers";
  case OccupancyLimit::SharedMemory:
    return "shared memory";
  }
  return "unknown";
}

} // namespace tenon::abi
