// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pinned host memory: allocated by the driver in its arena, at one address for host and device; or the program's own,
// registered, which the device knows by another address (cuMemHostGetDevicePointer), one per device.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory.h"

#include "support/align.h"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>

using namespace tenon;
using namespace tenon::emulator;

namespace {

/// Whether the program has all of these pages.
bool isMapped(uint64_t begin, uint64_t bytes) {
  constexpr uint64_t kPage = 4096, kEndOfPrograms = 1ull << 56, kPart = 1 << 30;
  const uint64_t end = begin + bytes;
  if (end > kEndOfPrograms)
    return false;
  // A part at a time: the size is the caller's, and need not be true.
  std::vector<unsigned char> resident(std::min(kPart, alignUp(bytes, kPage) + kPage) / kPage);
  for (uint64_t at = begin / kPage * kPage; at < end; at += kPart)
    if (mincore(reinterpret_cast<void *>(at), std::min(kPart, alignUp(end - at, kPage)), resident.data()) != 0)
      return false;
  return true;
}

const Allocation *pinnedAt(Driver &driver, CUdeviceptr address) {
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  return allocation && allocation->kind == AllocationKind::Pinned ? allocation : nullptr;
}

} // namespace

CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  if (!out || flags > 7)
    return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  CUresult result = allocateMemory(context, &address, bytes, AllocationKind::Pinned);
  if (result != CUDA_SUCCESS)
    return result;
  driver.pinnedFlags[address] = flags;
  *out = reinterpret_cast<void *>(address);
  return CUDA_SUCCESS;
}
CUresult cuMemAllocHost(void **out, size_t bytes) {
  TENON_CALL();
  return cuMemHostAlloc(out, bytes, 0);
}
CUresult cuMemFreeHost(void *pointer) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  if (CUresult result = driver.queue.finishAll(context); result != CUDA_SUCCESS)
    return result;
  CUresult result = releaseMemory(driver, hostAddress(pointer), {AllocationKind::Pinned});
  if (result == CUDA_SUCCESS)
    driver.pinnedFlags.erase(hostAddress(pointer));
  return result;
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *pointer, unsigned flags) {
  TENON_ENTER_CONTEXT();
  CUdeviceptr address = hostAddress(pointer);
  if (!out || flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (pinnedAt(driver, address))
    *out = address;
  else if (driver.registered.find(address))
    *out = address - context->device->memory->hostBias();
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
  TENON_ENTER_CONTEXT();
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (const Allocation *allocation = pinnedAt(driver, hostAddress(pointer)))
    *flags = driver.pinnedFlags[allocation->begin] |
             CU_MEMHOSTALLOC_DEVICEMAP; // always mapped, as unified addressing has it
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                              CU_MEMHOSTREGISTER_READ_ONLY;
  uint64_t begin = hostAddress(pointer);
  if (!pointer || !bytes || (flags & ~kKnown) || begin + bytes < begin)
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (driver.registered.overlaps(begin, bytes) || deviceOf(driver, begin))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  if (!isMapped(begin, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  for (auto &device : driver.devices)
    if (!device->memory->registerHost(begin, bytes)) {
      for (auto &other : driver.devices)
        other->memory->unregisterHost(begin);
      return CUDA_ERROR_NOT_SUPPORTED; // the device address would mean something else
    }
  driver.registered.add({begin, bytes, flags});
  return CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void *pointer) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  if (!pointer)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = driver.queue.finishAll(context); result != CUDA_SUCCESS)
    return result;
  if (!driver.registered.remove(hostAddress(pointer)))
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  for (auto &device : driver.devices)
    device->memory->unregisterHost(hostAddress(pointer));
  return CUDA_SUCCESS;
}
