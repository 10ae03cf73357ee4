// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's virtual memory: a program creates memory (cuMemCreate), reserves addresses (cuMemAddressReserve), joins
// them (cuMemMap) and sets access, after which kernels reach it. Such memory can be given to another process as a file
// descriptor.
//
// The memory is a file, mapped over the arena where the program maps it. Every process that maps the file sees the same
// bytes. The file is sealed, so that no process can make it shorter.
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
