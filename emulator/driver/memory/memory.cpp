// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory management: allocation, registration, attributes. What is allocated and freed in the order of a stream is in
// work/stream_allocation.cpp, copies and fills are in work/copies.cpp.
#include "emulator/driver/memory/memory.h"

#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory_pool.h"

#include "support/align.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {

Device *deviceOf(Driver &driver, uint64_t address) {
  for (auto &device : driver.devices)
    if (address - device->memory->deviceBase() < device->memory->size())
      return device.get();
  if (!driver.registered.empty())
    for (auto &device : driver.devices)
      if (const Allocation *found = device->memory->find(address); found && found->kind == AllocationKind::Registered)
        return device.get();
  return nullptr;
}

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
  returnToPool(*device, address);
  if (!device->memory->retire(address)) // of a graph: the graph keeps the address
    device->memory->free(address);
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator

CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  return allocateMemory(context, out, bytes, AllocationKind::Device);
}
CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned elementBytes) {
  TENON_ENTER_CONTEXT();
  if (!pitch || !width || !height || (elementBytes != 4 && elementBytes != 8 && elementBytes != 16))
    return CUDA_ERROR_INVALID_VALUE;
  if (width > context->device->memory->size() / height)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pitch = alignUp(width, 512);
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
namespace {

constexpr CUpointer_attribute kLastPointerAttribute = CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;

/// The allocation at an address, and its device; null: none. Registered host memory may go by its host address, which
/// becomes the device's.
const Allocation *findPointer(Driver &driver, const Context *context, CUdeviceptr &address, Device *&device) {
  if (!deviceOf(driver, address) && driver.registered.find(address))
    address -= context->device->memory->hostBias();
  device = deviceOf(driver, address);
  return device ? device->memory->find(address) : nullptr;
}

CUresult pointerAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address, const Device *device,
                          const Allocation *allocation) {
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

/// What cuPointerGetAttributes says of an address that the driver does not know: an H200's driver (13.0) leaves other
/// attributes as they were.
void foreignAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *>(data) = 0;
    break;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<CUdeviceptr *>(data) = address;
    break;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(data) = 0;
    break;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = -2;
    break;
  default:
    break;
  }
}

} // namespace

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  Device *device = nullptr;
  const Allocation *allocation = findPointer(driver, context, address, device);
  if (!data || !allocation)
    return CUDA_ERROR_INVALID_VALUE;
  return pointerAttribute(data, attribute, address, device, allocation);
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  if (!count || !attributes || !data)
    return CUDA_ERROR_INVALID_VALUE;
  const CUdeviceptr given = address;
  Device *device = nullptr;
  const Allocation *allocation = findPointer(driver, context, address, device);
  for (unsigned k = 0; k < count; ++k) {
    if (!data[k] || attributes[k] < CU_POINTER_ATTRIBUTE_CONTEXT || attributes[k] > kLastPointerAttribute)
      return CUDA_ERROR_INVALID_VALUE;
    if (!allocation) {
      foreignAttribute(data[k], attributes[k], given);
      continue;
    }
    CUresult result = pointerAttribute(data[k], attributes[k], address, device, allocation);
    if (result == CUDA_ERROR_INVALID_VALUE) // the host does not reach it
      *static_cast<CUdeviceptr *>(data[k]) = 0;
    else if (result != CUDA_SUCCESS)
      return result;
  }
  return CUDA_SUCCESS;
}
