// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the fake driver: addresses are host memory, a handle is a number, a descriptor a file's.
#include "tests/unit/runtime/fake_driver_calls.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace tenon::test;

namespace {

template <typename T> CUresult set(CUdeviceptr target, T value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    reinterpret_cast<T *>(target)[i] = value;
  return CUDA_SUCCESS;
}

/// `pointer` is one, or a device address.
template <typename Pointer> CUresult allocate(Pointer *pointer, size_t bytes) {
  void *memory = bytes > fake().memoryBytes ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++fake().liveAllocations;
  *pointer = (Pointer)memory;
  return CUDA_SUCCESS;
}

} // namespace

FAKE CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(pointer, bytes);
}
FAKE CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER();
  fake().isCaptureBroken |= fake().capturing && fake().captureMode != CU_STREAM_CAPTURE_MODE_RELAXED;
  --fake().liveAllocations;
  std::free(reinterpret_cast<void *>(pointer));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream) {
  ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(pointer, bytes);
}
FAKE CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream) {
  GiveBack back(reinterpret_cast<void *>(pointer));
  ENTER();
  back.done();
  --fake().liveAllocations;
  std::free(reinterpret_cast<void *>(pointer));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *) {
  ENTER();
  ++fake().livePools;
  *pool = reinterpret_cast<CUmemoryPool>(&fake());
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolDestroy(CUmemoryPool) {
  ENTER();
  --fake().livePools;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool, CUstream) {
  ENTER();
  return allocate(pointer, bytes);
}
FAKE CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream) {
  ENTER();
  return set<uint8_t>(target, value, count);
}
FAKE CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream) {
  ENTER();
  return set<uint16_t>(target, value, count);
}
FAKE CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream) {
  ENTER();
  return set<uint32_t>(target, value, count);
}
FAKE CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ENTER();
  return allocate(pointer, bytes);
}
FAKE CUresult cuMemFreeHost(void *pointer) {
  ENTER();
  fake().isCaptureBroken |= fake().capturing && fake().captureMode != CU_STREAM_CAPTURE_MODE_RELAXED;
  --fake().liveAllocations;
  std::free(pointer);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned) {
  ENTER();
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostRegister_v2(void *, size_t, unsigned) {
  ENTER();
  ++fake().liveRegistrations;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostUnregister(void *) {
  ENTER();
  --fake().liveRegistrations;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  ENTER();
  *freeBytes = 1000, *totalBytes = 4000;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *,
                                            CUmemAllocationGranularity_flags) {
  ENTER();
  *bytes = 4096;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *,
                          unsigned long long) {
  ENTER();
  if (bytes > fake().memoryBytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemRelease(CUmemGenericAllocationHandle) {
  ENTER();
  --fake().liveHandles;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  ENTER();
  ++fake().liveReservations;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(4096, bytes));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAddressFree(CUdeviceptr address, size_t) {
  ENTER();
  --fake().liveReservations;
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) {
  ENTER();
  ++fake().liveMappings;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemUnmap(CUdeviceptr, size_t) {
  ENTER();
  --fake().liveMappings;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *) {
  ENTER();
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                           unsigned long long) {
  ENTER();
  *static_cast<int *>(out) = memfd_create("fake", 0);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *, CUmemAllocationHandleType) {
  ENTER();
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
