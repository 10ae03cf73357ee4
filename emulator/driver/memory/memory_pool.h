// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory pools: what cuMemAllocAsync takes from. The emulator's memory comes from one arena, so a pool only counts:
// what is used, and what a device would hold in reserve for it. Memory that was freed stays in the reserve until the
// next synchronisation, beyond it as far as the release threshold goes.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tenon::emulator {

struct Device;
struct Driver;

struct MemoryPool {
  Device *device = nullptr;
  CUmemPoolProps properties = {};
  uint64_t releaseThreshold = 0;
  uint64_t used = 0, usedHigh = 0, reserved = 0, reservedHigh = 0;
  int reuse[3] = {1, 1, 1}; // follow events, opportunistic, internal dependencies: only answered

  void take(uint64_t bytes);
  void give(uint64_t bytes) { used -= bytes; }
  /// Keeps at least `bytes` of the reserve, and what is used.
  void trim(uint64_t bytes);
};

/// Null: no such pool.
MemoryPool *findPool(Driver &driver, CUmemoryPool handle);
MemoryPool &defaultPool(Device &device);
/// What cuMemAllocAsync takes from.
MemoryPool &currentPool(Device &device);
bool isOfPool(const Device &device, uint64_t address);
/// An allocation that is being freed no longer counts in its pool, if it has one.
void returnToPool(Device &device, uint64_t address);
/// A stream, event or context was synchronised: pools give back what is above their thresholds.
void trimPools(Driver &driver);

} // namespace tenon::emulator
