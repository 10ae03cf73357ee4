// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many workgroups of a kernel a multiprocessor holds at once, and what keeps it from holding more: what a kernel's
// author tunes registers and shared memory for. Known once the kernel is assembled.
#pragma once

#include "abi/target_arch.h"

#include <cstdint>

namespace tenon::abi {

/// What one multiprocessor has. Sources: CUDA Programming Guide 13.0, "Technical Specifications per Compute Capability"
/// (12.9 for what came before 7.5); cuda/__device/arch_traits.h of NVIDIA's CCCL, which has 6.2, 8.8, 10.3 and 12.1
/// too; cuda_occupancy.h of the toolkit for partitions and granularities.
struct MultiprocessorLimits {
  uint16_t number = 0; // 90 of sm_90
  uint32_t threads = 0, blocks = 0;
  uint32_t sharedBytes = 0;      // of all workgroups
  uint32_t blockSharedBytes = 0; // of one
  uint32_t blockRegisters = 0;   // of one workgroup
  uint32_t partitions = 0;       // each with its part of the registers
  static constexpr uint32_t registers = 65536, registerGranularity = 256, warp = 32, blockThreads = 1024;

  /// Of each workgroup, taken by the system.
  uint32_t reservedSharedBytes() const { return number >= 80 ? 1024 : 0; }
  /// Shared memory of a workgroup is rounded up to it.
  uint32_t sharedGranularity() const { return number >= 80 ? 128 : 256; }
};
/// The row of an architecture, or null where its limits are not known here.
const MultiprocessorLimits *findMultiprocessor(TargetArch arch);

// Numbers of fb::OccupancyLimit.
enum class OccupancyLimit : uint8_t { Unknown, Threads, Blocks, Registers, SharedMemory };

struct Occupancy {
  uint32_t blocksPerSm = 0; // 0 with Unknown: the limits are not known; else not even one can be launched
  OccupancyLimit limit = OccupancyLimit::Unknown;
};

/// Named barriers, which may bound a kernel that uses several of them, are not counted.
/// @param threads      of a workgroup
/// @param registers    of a thread
/// @param sharedBytes  of a workgroup, static and dynamic
Occupancy computeOccupancy(TargetArch arch, uint64_t threads, uint32_t registers, uint64_t sharedBytes);

/// "registers", "shared memory", ...
std::string_view spelling(OccupancyLimit limit);

} // namespace tenon::abi
