// Registers are handed out to warps, by 256, in each of four partitions; threads come in warps; shared memory goes to
// the workgroup, rounded up, with what the system takes for itself from sm_80 on.
#include "abi/occupancy.h"

#include <algorithm>

namespace tenon::abi {

// Ascending. A part whose limits are not published for sure is left out: nothing is said of its occupancy then.
static constexpr MultiprocessorLimits kLimits[] = {
    {52, 2048, 32, 96 << 10, 0, 256},      {53, 2048, 32, 64 << 10, 0, 256},      {60, 2048, 32, 64 << 10, 0, 256},
    {61, 2048, 32, 96 << 10, 0, 256},      {70, 2048, 32, 96 << 10, 0, 256},      {72, 2048, 32, 96 << 10, 0, 256},
    {75, 1024, 16, 64 << 10, 0, 256},      {80, 2048, 32, 164 << 10, 1024, 128},  {86, 1536, 16, 100 << 10, 1024, 128},
    {87, 1536, 16, 164 << 10, 1024, 128},  {89, 1536, 24, 100 << 10, 1024, 128},  {90, 2048, 32, 228 << 10, 1024, 128},
    {100, 2048, 32, 228 << 10, 1024, 128}, {103, 2048, 32, 228 << 10, 1024, 128}, {110, 1536, 24, 228 << 10, 1024, 128},
    {120, 1536, 24, 100 << 10, 1024, 128}, {121, 1536, 24, 100 << 10, 1024, 128},
};

const MultiprocessorLimits *findMultiprocessor(TargetArch arch) {
  const auto *found = std::find_if(std::begin(kLimits), std::end(kLimits),
                                   [&](const MultiprocessorLimits &limits) { return limits.number == arch.number; });
  return found == std::end(kLimits) ? nullptr : found;
}

static uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes) {
  const MultiprocessorLimits *limits = findMultiprocessor(arch);
  if (!limits || threads == 0)
    return {};
  const uint64_t warps = roundUp(threads, limits->warp) / limits->warp;
  Occupancy best{.blocksPerSm = uint32_t(limits->threads / limits->warp / warps), .limit = OccupancyLimit::Threads};
  auto bound = [&](uint64_t blocks, OccupancyLimit limit) {
    if (blocks < best.blocksPerSm)
      best = {uint32_t(blocks), limit};
  };
  bound(limits->blocks, OccupancyLimit::Blocks);
  if (registers != 0) {
    const uint64_t perWarp = roundUp(uint64_t(registers) * limits->warp, limits->registerGranularity);
    const uint64_t warpsHeld = limits->registers / limits->partitions / perWarp * limits->partitions;
    bound(warpsHeld / warps, OccupancyLimit::Registers);
  }
  const uint64_t shared = roundUp(sharedBytes + limits->reservedSharedBytes, limits->sharedGranularity);
  if (shared != 0)
    bound(limits->sharedBytes / shared, OccupancyLimit::SharedMemory);
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
