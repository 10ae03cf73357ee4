// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device's memory by the driver's two allocators, counted against the device's limit: cuMemAlloc, whose memory any
// stream may use at once, and the driver's stream-ordered pool. Buffers, pools and slabs are made of these.
#pragma once

#include "runtime/device/device.h"

namespace tenon::runtime {

/// Addresses of the driver's allocators are multiples of this; bytes.
inline constexpr uint64_t kBufferAlignment = 256;

enum class DeviceAllocator : uint8_t { Plain, StreamOrdered };

// Both allocate `bytes` bytes (0 is possible: an address of its own), contents undefined. The device's context is
// current. ResourceExhausted: out of memory; the message says how much was asked for.

/// The address of plain memory.
Result<uint64_t> allocateDeviceMemory(Device &device, uint64_t bytes);
struct StreamMemory {
  uint64_t address = 0;
  DeviceAllocator allocator = DeviceAllocator::Plain;
};
/// Stream-ordered memory for work on `stream`; plain memory where the device has no memory pools.
Result<StreamMemory> allocateStreamMemory(Device &device, uint64_t bytes, CUstream stream);
/// Returns memory. What is stream-ordered goes back behind the work that was given to the device's own stream before.
void freeDeviceMemory(Device &device, uint64_t address, uint64_t bytes, DeviceAllocator allocator);

} // namespace tenon::runtime
