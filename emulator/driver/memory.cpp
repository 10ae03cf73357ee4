// Memory management, copies and fills. Device ranges are checked against live allocations, host ranges are the
// caller's. Work is done when it is enqueued, so the asynchronous forms differ in their checks only.
#include "emulator/driver/state.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace {

CUresult allocate(Context *context, CUdeviceptr *out, size_t bytes, AllocationKind kind) {
  if (!out || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = context->device->memory->allocate(bytes, kind);
  if (!address)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *out = address;
  return CUDA_SUCCESS;
}

/// The device whose memory holds the address, or null.
Device *deviceOf(Driver &driver, uint64_t address) {
  for (auto &device : driver.devices)
    if (address - device->memory->deviceBase() < device->memory->size())
      return device.get();
  return nullptr;
}

CUresult release(Driver &driver, CUdeviceptr address, std::initializer_list<AllocationKind> kinds) {
  if (!address)
    return CUDA_SUCCESS; // as free(NULL)
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!allocation || allocation->begin != address ||
      std::find(kinds.begin(), kinds.end(), allocation->kind) == kinds.end())
    return CUDA_ERROR_INVALID_VALUE;
  device->memory->free(address);
  return CUDA_SUCCESS;
}

/// Host address of a device range that lies in one live allocation, or null.
uint8_t *deviceRange(Driver &driver, CUdeviceptr address, size_t bytes) {
  Device *device = deviceOf(driver, address);
  // Copies write constants (cuModuleGetGlobal gives their address), so this asks for read access only.
  return device && device->memory->accessible(address, bytes, false) ? device->memory->host(address) : nullptr;
}

CUresult toDevice(Driver &driver, CUdeviceptr to, const void *from, size_t bytes) {
  if (bytes == 0)
    return CUDA_SUCCESS;
  uint8_t *target = deviceRange(driver, to, bytes);
  if (!target || !from)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(target, from, bytes);
  return CUDA_SUCCESS;
}
CUresult toHost(Driver &driver, void *to, CUdeviceptr from, size_t bytes) {
  if (bytes == 0)
    return CUDA_SUCCESS;
  const uint8_t *source = deviceRange(driver, from, bytes);
  if (!source || !to)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(to, source, bytes);
  return CUDA_SUCCESS;
}
CUresult onDevice(Driver &driver, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (bytes == 0)
    return CUDA_SUCCESS;
  const uint8_t *source = deviceRange(driver, from, bytes);
  uint8_t *target = deviceRange(driver, to, bytes);
  if (!source || !target)
    return CUDA_ERROR_INVALID_VALUE;
  memmove(target, source, bytes);
  return CUDA_SUCCESS;
}
/// Unified addressing: each side may be a device or a host address.
CUresult anyCopy(Driver &driver, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  bool toIsDevice = deviceOf(driver, to), fromIsDevice = deviceOf(driver, from);
  if (toIsDevice && fromIsDevice)
    return onDevice(driver, to, from, bytes);
  if (toIsDevice)
    return toDevice(driver, to, reinterpret_cast<const void *>(from), bytes);
  if (fromIsDevice)
    return toHost(driver, reinterpret_cast<void *>(to), from, bytes);
  if (bytes && (!to || !from))
    return CUDA_ERROR_INVALID_VALUE;
  memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}

template <typename T> CUresult fill(Driver &driver, CUdeviceptr to, T value, size_t count) {
  if (count == 0)
    return CUDA_SUCCESS;
  if (to % sizeof(T) || count > SIZE_MAX / sizeof(T))
    return CUDA_ERROR_INVALID_VALUE;
  uint8_t *target = deviceRange(driver, to, count * sizeof(T));
  if (!target)
    return CUDA_ERROR_INVALID_VALUE;
  T *elements = reinterpret_cast<T *>(target);
  std::fill(elements, elements + count, value);
  return CUDA_SUCCESS;
}
template <typename T>
CUresult fill2d(Driver &driver, CUdeviceptr to, size_t pitch, T value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    if (CUresult result = fill(driver, to + row * pitch, value, width); result != CUDA_SUCCESS)
      return result;
  return CUDA_SUCCESS;
}

/// One row of a 2-D or 3-D copy: where an operand's byte (x, y, z) lies.
struct Side {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  size_t pitch, height, x, y, z;
  CUdeviceptr at(size_t row, size_t plane) const {
    CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
    return base + ((z + plane) * (height ? height : 1) + y + row) * pitch + x;
  }
};
CUresult copyRows(Driver &driver, const Side &to, const Side &from, size_t width, size_t height, size_t depth) {
  if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  if ((to.pitch && to.pitch < width) || (from.pitch && from.pitch < width))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t plane = 0; plane < depth; ++plane)
    for (size_t row = 0; row < height; ++row)
      if (CUresult result = anyCopy(driver, to.at(row, plane), from.at(row, plane), width); result != CUDA_SUCCESS)
        return result;
  return CUDA_SUCCESS;
}
CUresult copy2d(Driver &driver, const CUDA_MEMCPY2D *copy) {
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  Side from{copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch, 0, copy->srcXInBytes, copy->srcY, 0};
  Side to{copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch, 0, copy->dstXInBytes, copy->dstY, 0};
  return copyRows(driver, to, from, copy->WidthInBytes, copy->Height, 1);
}

} // namespace

CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return allocate(context, out, bytes, AllocationKind::Device);
}
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return allocate(context, out, bytes, AllocationKind::Device);
}
CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned elementBytes) {
  TENON_ENTER_CONTEXT();
  if (!pitch || !width || !height || (elementBytes != 4 && elementBytes != 8 && elementBytes != 16))
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + 511) / 512 * 512;
  return allocate(context, out, *pitch * height, AllocationKind::Device);
}
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
  TENON_ENTER_CONTEXT();
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(context, out, bytes, AllocationKind::Managed);
}
CUresult cuMemFree(CUdeviceptr address) {
  TENON_ENTER_CONTEXT();
  return release(driver, address, {AllocationKind::Device, AllocationKind::Managed});
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return release(driver, address, {AllocationKind::Device});
}
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  TENON_ENTER_CONTEXT();
  if (!out || flags > 7)
    return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  CUresult result = allocate(context, &address, bytes, AllocationKind::Pinned);
  if (result == CUDA_SUCCESS)
    *out = reinterpret_cast<void *>(address);
  return result;
}
CUresult cuMemAllocHost(void **out, size_t bytes) {
  TENON_CALL();
  return cuMemHostAlloc(out, bytes, 0);
}
CUresult cuMemFreeHost(void *pointer) {
  TENON_ENTER_CONTEXT();
  return release(driver, reinterpret_cast<CUdeviceptr>(pointer), {AllocationKind::Pinned});
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *pointer, unsigned flags) {
  TENON_ENTER_CONTEXT();
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(pointer);
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!out || flags || !allocation || allocation->kind != AllocationKind::Pinned)
    return CUDA_ERROR_INVALID_VALUE;
  *out = address;
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
  TENON_ENTER_CONTEXT();
  if (!flags || !deviceOf(driver, reinterpret_cast<CUdeviceptr>(pointer)))
    return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void *, size_t, unsigned) {
  TENON_ENTER_CONTEXT();
  return CUDA_ERROR_NOT_SUPPORTED; // memory of others cannot be mapped into the arena
}
CUresult cuMemHostUnregister(void *) {
  TENON_ENTER_CONTEXT();
  return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
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
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!data || !allocation)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) =
        allocation->kind == AllocationKind::Pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<CUdeviceptr *>(data) = address;
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

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return toDevice(driver, to, from, bytes);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return toDevice(driver, to, from, bytes);
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return toHost(driver, to, from, bytes);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return toHost(driver, to, from, bytes);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return onDevice(driver, to, from, bytes);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return onDevice(driver, to, from, bytes);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return anyCopy(driver, to, from, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return anyCopy(driver, to, from, bytes);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return onDevice(driver, to, from, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return onDevice(driver, to, from, bytes);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  TENON_ENTER_CONTEXT();
  return copy2d(driver, copy);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) {
  TENON_CALL();
  return cuMemcpy2D(copy);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return copy2d(driver, copy);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  Side from{copy->srcMemoryType, copy->srcHost,     copy->srcDevice, copy->srcPitch,
            copy->srcHeight,     copy->srcXInBytes, copy->srcY,      copy->srcZ};
  Side to{copy->dstMemoryType, copy->dstHost,     copy->dstDevice, copy->dstPitch,
          copy->dstHeight,     copy->dstXInBytes, copy->dstY,      copy->dstZ};
  return copyRows(driver, to, from, copy->WidthInBytes, copy->Height, copy->Depth);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy) {
  TENON_CALL();
  return cuMemcpy3DAsync(copy, nullptr);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  TENON_ENTER_CONTEXT();
  return fill<uint8_t>(driver, to, value, count);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  TENON_ENTER_CONTEXT();
  return fill<uint16_t>(driver, to, value, count);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  TENON_ENTER_CONTEXT();
  return fill<uint32_t>(driver, to, value, count);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return fill<uint8_t>(driver, to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return fill<uint16_t>(driver, to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return fill<uint32_t>(driver, to, value, count);
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  TENON_ENTER_CONTEXT();
  return fill2d<uint8_t>(driver, to, pitch, value, width, height);
}
CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  TENON_ENTER_CONTEXT();
  return fill2d<uint16_t>(driver, to, pitch, value, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  TENON_ENTER_CONTEXT();
  return fill2d<uint32_t>(driver, to, pitch, value, width, height);
}
