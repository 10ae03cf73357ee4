// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many workgroups of a kernel a multiprocessor holds at once, and what keeps it from holding more: what a kernel's
// author tunes registers and shared memory for. Known once the kernel is assembled.
#pragma once

#include "abi/target_arch.h"

#include <cstdint>

namespace tenon::abi {

// Numbers of fb::OccupancyLimit.
enum class OccupancyLimit : uint8_t { Unknown, Threads, Blocks, Registers, SharedMemory };

struct Occupancy {
  uint32_t blocksPerSm = 0; // 0 with Unknown: the limits are not known; else not even one can be launched
  OccupancyLimit limit = OccupancyLimit::Unknown;
};

/// By the limits of arch_table.h. Named barriers, which may bound a kernel that uses several of them, are not counted.
/// @param threads      of a workgroup
/// @param registers    of a thread
/// @param sharedBytes  of a workgroup, static and dynamic
Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes);

/// "registers", "shared memory", ...
std::string_view spelling(OccupancyLimit limit);

} // namespace tenon::abi
