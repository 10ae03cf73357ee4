// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of the driver each, between the device's counts.
#include "runtime/memory/device_memory.h"

#include "runtime/cuda/driver_status.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

/// `allocate(&address, bytes)` is the driver's `call`.
template <typename Allocate>
Result<uint64_t> allocateBy(Device &device, uint64_t bytes, const char *call, Allocate allocate) {
  CUdeviceptr address = 0;
  const size_t asked = std::max<uint64_t>(bytes, 1); // the driver refuses 0 bytes
  TENON_RETURN_IF_ERROR(device.allocateCounted(bytes, [&] {
    const CUresult result = allocate(&address, asked);
    if (result == CUDA_SUCCESS) // which makes no message
      return okStatus();
    return cuda::driverStatus(device.driver(), result, concat(call, " of ", asked, " bytes on ", device.description()));
  }));
  return uint64_t(address);
}

} // namespace

Result<uint64_t> allocateDeviceMemory(Device &device, uint64_t bytes) {
  return allocateBy(device, bytes, "cuMemAlloc_v2",
                    [&](CUdeviceptr *address, size_t asked) { return device.driver().cuMemAlloc_v2(address, asked); });
}

Result<StreamMemory> allocateStreamMemory(Device &device, uint64_t bytes, CUstream stream) {
  StreamMemory out;
  if (device.hasMemoryPools()) {
    out.allocator = DeviceAllocator::StreamOrdered;
    TENON_ASSIGN_OR_RETURN(out.address,
                           allocateBy(device, bytes, "cuMemAllocAsync", [&](CUdeviceptr *address, size_t asked) {
                             return device.driver().cuMemAllocAsync(address, asked, stream);
                           }));
  } else {
    TENON_ASSIGN_OR_RETURN(out.address, allocateDeviceMemory(device, bytes));
  }
  return out;
}

void freeDeviceMemory(Device &device, uint64_t address, uint64_t bytes, DeviceAllocator allocator) {
  ReleaseScope scope = device.enterToRelease();
  // Nobody can act on a failure: after a kernel's fault the driver refuses, and the context takes the memory along.
  if (allocator == DeviceAllocator::StreamOrdered)
    (void)device.driver().cuMemFreeAsync(address, device.stream().handle());
  else
    (void)device.driver().cuMemFree_v2(address);
  device.freeCounted(bytes);
}

} // namespace tenon::runtime
