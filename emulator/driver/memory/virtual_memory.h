// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's virtual memory: memory and addresses are got apart and joined (cuMemCreate, cuMemAddressReserve,
// cuMemMap), and kernels reach what access was set for. Memory made so can be given to another process as a descriptor.
//
// Here memory is a file of its own, which takes the place of the arena's bytes where it is mapped; whoever maps the
// same file, in whatever process, has the same bytes. The file is sealed, so that nobody who got it makes it shorter.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

namespace tenon::emulator {

struct Device;
struct Driver;

constexpr uint64_t kVirtualGranularity = 2 << 20; // as of GPUs

/// Bytes without an address. They live as long as a handle or a mapping, and in other processes on their own.
struct PhysicalMemory {
  PhysicalMemory(Device &device, uint64_t bytes, int file, bool isExportable)
      : device(&device), bytes(bytes), file(file), isExportable(isExportable) {}
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory &) = delete;
  PhysicalMemory &operator=(const PhysicalMemory &) = delete;

  Device *device;
  uint64_t bytes;
  int file; // owned
  bool isExportable;
  uint64_t handles = 1; // given out and not released
};

/// Addresses that nothing else gets.
struct AddressRange {
  Device *device = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<PhysicalMemory> mapped; // null: nothing
};

/// Unmaps and frees all ranges of a device whose memory is about to be reset.
void dropAddressRanges(Driver &driver, Device &device);

} // namespace tenon::emulator
