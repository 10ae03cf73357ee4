// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory management: allocation, registration, attributes. Copies and fills are in copies.cpp.
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/state.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {

CUresult allocateMemory(Context *context, CUdeviceptr *out, size_t bytes, AllocationKind kind) {
  if (!out || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Memory &memory = *context->device->memory;
  uint64_t address = memory.allocate(bytes, kind);
  if (!address && !driver().queue.idle()) { // enqueued frees may make room
    if (CUresult result = driver().queue.finishAll(context); result != CUDA_SUCCESS)
      return result;
    address = memory.allocate(bytes, kind);
  }
  if (!address)
    return CUDA_ERROR_OUT_OF_MEMORY;
  context->device->memory->setOrigin(address, tenon::emulator::driver().function);
  *out = address;
  return CUDA_SUCCESS;
}

CUresult releaseMemory(Driver &driver, CUdeviceptr address, std::initializer_list<AllocationKind> kinds) {
  if (!address)
    return CUDA_SUCCESS; // as free(NULL)
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!allocation || allocation->begin != address ||
      std::find(kinds.begin(), kinds.end(), allocation->kind) == kinds.end())
    return CUDA_ERROR_INVALID_VALUE;
  noteFree(*device, address);
  if (!device->memory->retire(address)) // of a graph: the graph keeps the address
    device->memory->free(address);
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator

Fault tenon::emulator::runAllocation(Driver &driver, const MemoryAllocWork &work) {
  Device *device = deviceOf(driver, work.parameters.dptr);
  if (device && device->memory->commit(work.parameters.dptr, work.parameters.bytesize))
    return {};
  return {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": it is still allocated, or its graph is gone"};
}

Fault tenon::emulator::runRelease(Driver &driver, const MemoryFreeWork &work) {
  driver.pendingFrees.erase(work.address);
  if (releaseMemory(driver, work.address, {AllocationKind::Device}) == CUDA_SUCCESS)
    return {};
  Device *device = deviceOf(driver, work.address);
  return {CUDA_ERROR_ILLEGAL_ADDRESS, describeWork(work) + ": it is not an allocation (any more): " +
                                          (device ? device->memory->describe(work.address) : "no memory of a device")};
}

CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  return allocateMemory(context, out, bytes, AllocationKind::Device);
}
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!isCapturing(*on))
    return allocateFromPool(context, *context->device->currentPool, out, bytes);
  if (!out || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, context->device->ordinal};
  parameters.bytesize = bytes;
  MemoryAllocWork work;
  CUresult result = reserveForGraph(*context->device, parameters, work);
  if (result == CUDA_SUCCESS)
    result = captureWork(*on, std::move(work));
  *out = result == CUDA_SUCCESS ? parameters.dptr : 0;
  return result;
}
CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned elementBytes) {
  TENON_ENTER_CONTEXT();
  if (!pitch || !width || !height || (elementBytes != 4 && elementBytes != 8 && elementBytes != 16))
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + 511) / 512 * 512;
  return allocateMemory(context, out, *pitch * height, AllocationKind::Device);
}
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return CUDA_ERROR_INVALID_VALUE;
  return allocateMemory(context, out, bytes, AllocationKind::Managed);
}
CUresult cuMemFree(CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  // A device waits for the context's work before memory goes, but not for memory of a pool.
  if (Device *device = deviceOf(driver, address); !device || !isOfPool(*device, address))
    if (CUresult result = driver.queue.finishAll(context); result != CUDA_SUCCESS)
      return result;
  return releaseMemory(driver, address, {AllocationKind::Device, AllocationKind::Managed});
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!address)
    return CUDA_SUCCESS;
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  bool isOfGraph = device && device->memory->reserved(address, 1);
  if ((!isOfGraph && (!allocation || allocation->begin != address || allocation->kind != AllocationKind::Device)) ||
      driver.pendingFrees.count(address))
    return CUDA_ERROR_INVALID_VALUE;
  if (isCapturing(*on))
    return captureWork(*on, MemoryFreeWork{address});
  driver.pendingFrees.insert(address);
  return enqueue(*on, MemoryFreeWork{address});
}
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  TENON_ENTER_CONTEXT();
  const Memory &memory = *context->device->memory;
  if (free)
    *free = memory.size() - memory.used();
  if (total)
    *total = memory.size();
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!allocation)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = allocation->begin;
  if (bytes)
    *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  if (!deviceOf(driver, address) && driver.registered.find(address)) // the host's name for it
    address -= context->device->memory->hostBias();
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!data || !allocation)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) =
        allocation->kind == AllocationKind::Pinned || allocation->kind == AllocationKind::Registered
            ? CU_MEMORYTYPE_HOST
            : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *>(data) = address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (allocation->kind == AllocationKind::Device || allocation->kind == AllocationKind::Mapped)
      return CUDA_ERROR_INVALID_VALUE;
    *static_cast<CUdeviceptr *>(data) =
        allocation->kind == AllocationKind::Registered ? address + device->memory->hostBias() : address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(data) = allocation->kind == AllocationKind::Managed;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = device->ordinal;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *>(data) = allocation->begin;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *>(data) = allocation->bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *>(data) = reinterpret_cast<CUcontext>(device->primary.get());
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}
