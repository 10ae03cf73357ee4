// How many workgroups of a kernel a multiprocessor holds at once, and what keeps it from holding more: what a kernel's
// author tunes registers and shared memory for. Known once the kernel is assembled.
#pragma once

#include "abi/target_arch.h"

#include <cstdint>

namespace tenon::abi {

/// What one multiprocessor has. Source: CUDA Programming Guide, "Compute Capabilities".
struct MultiprocessorLimits {
  uint16_t number = 0; // 90 of sm_90
  uint32_t threads = 0, blocks = 0;
  uint32_t sharedBytes = 0;         // of all workgroups
  uint32_t reservedSharedBytes = 0; // of each workgroup, taken by the system
  uint32_t sharedGranularity = 0;   // shared memory of a workgroup is rounded up to it
  static constexpr uint32_t registers = 65536, registerGranularity = 256, partitions = 4, warp = 32;
};
/// The row of an architecture, or null where its limits are not known here.
const MultiprocessorLimits *findMultiprocessor(TargetArch arch);

// Numbers of fb::OccupancyLimit.
enum class OccupancyLimit : uint8_t { Unknown, Threads, Blocks, Registers, SharedMemory };

struct Occupancy {
  uint32_t blocksPerSm = 0; // 0 with Unknown: the limits are not known; else not even one fits
  OccupancyLimit limit = OccupancyLimit::Unknown;
};

/// @param threads      of a workgroup
/// @param registers    of a thread
/// @param sharedBytes  of a workgroup, static and dynamic
Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes);

/// "registers", "shared memory", ...
std::string_view spelling(OccupancyLimit limit);

} // namespace tenon::abi
