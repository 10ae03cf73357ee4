// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/allocation_work.h"

#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/memory/memory.h"

namespace tenon::emulator {

CUresult reserveAllocation(Device &device, CUDA_MEM_ALLOC_NODE_PARAMS &parameters, MemoryAllocWork &out) {
  Memory &memory = *device.memory;
  uint64_t address = memory.reserve(parameters.bytesize);
  if (!address)
    return CUDA_ERROR_OUT_OF_MEMORY;
  parameters.dptr = address;
  out.parameters = parameters;
  out.parameters.accessDescs = nullptr; // every device reaches it
  out.parameters.accessDescCount = 0;
  out.reservation =
      std::shared_ptr<void>(&memory, [address](void *of) { static_cast<Memory *>(of)->unreserve(address); });
  return CUDA_SUCCESS;
}

Fault runAllocation(Driver &driver, const MemoryAllocWork &work) {
  Device *device = deviceOf(driver, work.parameters.dptr);
  if (device && device->memory->commit(work.parameters.dptr, work.parameters.bytesize))
    return {};
  return {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": it is still allocated, or its graph is gone"};
}

Fault runRelease(Driver &driver, const MemoryFreeWork &work) {
  driver.pendingFrees.erase(work.address);
  if (releaseMemory(driver, work.address, {AllocationKind::Device}) == CUDA_SUCCESS)
    return {};
  Device *device = deviceOf(driver, work.address);
  return {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": it is not an allocation (any more): " +
                                          (device ? device->memory->describe(work.address) : "no memory of a device")};
}

} // namespace tenon::emulator
