// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers are handed out to warps, by 256, in each partition; threads come in warps; shared memory goes to the
// workgroup, rounded up, with what the system takes for itself from sm_80 on. All of it is compared with NVIDIA's own
// calculator by tests/unit/abi/occupancy_calculator_test.cpp.
#include "abi/occupancy.h"

#include <algorithm>

namespace tenon::abi {

// Ascending. 101 is what 110 was called before CUDA 13. Which parts are 8.8 is published nowhere; that it has what 8.6
// has is in CCCL's arch_traits.h.
static constexpr MultiprocessorLimits kLimits[] = {
    {52, 2048, 32, 96 << 10, 48 << 10, 65536, 4},    {53, 2048, 32, 64 << 10, 48 << 10, 32768, 4},
    {60, 2048, 32, 64 << 10, 48 << 10, 65536, 2},    {61, 2048, 32, 96 << 10, 48 << 10, 65536, 4},
    {62, 2048, 32, 64 << 10, 48 << 10, 32768, 4},    {70, 2048, 32, 96 << 10, 96 << 10, 65536, 4},
    {72, 2048, 32, 96 << 10, 96 << 10, 65536, 4},    {75, 1024, 16, 64 << 10, 64 << 10, 65536, 4},
    {80, 2048, 32, 164 << 10, 163 << 10, 65536, 4},  {86, 1536, 16, 100 << 10, 99 << 10, 65536, 4},
    {87, 1536, 16, 164 << 10, 163 << 10, 65536, 4},  {88, 1536, 16, 100 << 10, 99 << 10, 65536, 4},
    {89, 1536, 24, 100 << 10, 99 << 10, 65536, 4},   {90, 2048, 32, 228 << 10, 227 << 10, 65536, 4},
    {100, 2048, 32, 228 << 10, 227 << 10, 65536, 4}, {101, 1536, 24, 228 << 10, 227 << 10, 65536, 4},
    {103, 2048, 32, 228 << 10, 227 << 10, 65536, 4}, {110, 1536, 24, 228 << 10, 227 << 10, 65536, 4},
    {120, 1536, 24, 100 << 10, 99 << 10, 65536, 4},  {121, 1536, 24, 100 << 10, 99 << 10, 65536, 4},
};

const MultiprocessorLimits *findMultiprocessor(TargetArch arch) {
  const auto *found = std::find_if(std::begin(kLimits), std::end(kLimits),
                                   [&](const MultiprocessorLimits &limits) { return limits.number == arch.number; });
  return found == std::end(kLimits) ? nullptr : found;
}

static uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static uint64_t blocksByRegisters(const MultiprocessorLimits &limits, uint64_t warps, uint64_t registers) {
  const uint64_t perWarp = roundUp(registers * limits.warp, limits.registerGranularity);
  // A launch is checked as if warps went to four partitions evenly; also where there are two, so that a kernel runs on
  // all of a family or on none.
  if (perWarp * roundUp(warps, 4) > limits.blockRegisters)
    return 0;
  return limits.registers / limits.partitions / perWarp * limits.partitions / warps;
}

static uint64_t blocksBySharedMemory(const MultiprocessorLimits &limits, uint64_t bytes) {
  if (bytes > limits.blockSharedBytes)
    return 0;
  const uint64_t shared = roundUp(bytes + limits.reservedSharedBytes(), limits.sharedGranularity());
  return shared == 0 ? UINT64_MAX : limits.sharedBytes / shared;
}

Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes) {
  const MultiprocessorLimits *limits = findMultiprocessor(arch);
  if (!limits || threads == 0)
    return {};
  if (threads > limits->blockThreads)
    return {.blocksPerSm = 0, .limit = OccupancyLimit::Threads};
  const uint64_t warps = roundUp(threads, limits->warp) / limits->warp;
  Occupancy best{.blocksPerSm = uint32_t(limits->threads / limits->warp / warps), .limit = OccupancyLimit::Threads};
  auto bound = [&](uint64_t blocks, OccupancyLimit limit) {
    if (blocks < best.blocksPerSm)
      best = {uint32_t(blocks), limit};
  };
  bound(limits->blocks, OccupancyLimit::Blocks);
  if (registers != 0)
    bound(blocksByRegisters(*limits, warps, registers), OccupancyLimit::Registers);
  bound(blocksBySharedMemory(*limits, sharedBytes), OccupancyLimit::SharedMemory);
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
