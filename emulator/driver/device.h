// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device: its architecture, its memory and its primary context.
#pragma once

#include "emulator/memory/memory.h"

#include "abi/arch_table.h"
#include "abi/target_arch.h"

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tenon::emulator {

struct Context;
struct MemoryPool;

/// The row of a compute capability (90) that the emulator offers: one with a product. Null for others.
const abi::Architecture *findEmulated(uint16_t number);
/// "70, 75, 80, ...".
std::string emulatedList();

struct Device {
  Device();
  ~Device();
  int ordinal = 0;
  const abi::Architecture *arch = nullptr;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Context> primary;
  int primaryReferences = 0;
  std::shared_ptr<MemoryPool> defaultPool;            // null until memory/memory_pool.h is asked for it
  MemoryPool *currentPool = nullptr;                  // what cuMemAllocAsync takes from; null: the default pool
  std::map<uint64_t, MemoryPool *> pooledAllocations; // live ones, by address
  unsigned primaryFlags = 0;
  abi::DeviceTraits traits(int driverVersion) const;
  std::string name() const;
};

/// What cuDeviceGetAttribute answers. Nothing: `which` is no attribute. One that the emulator does not know is 0.
std::optional<int> attribute(const Device &device, CUdevice_attribute which);

} // namespace tenon::emulator
