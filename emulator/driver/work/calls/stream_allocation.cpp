// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is allocated and freed in the order of a stream. An allocation comes from a pool and is there at once; a
// free waits for its turn. In a stream that captures both become nodes.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/work/allocation_work.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/enqueue.h"

using namespace tenon::emulator;

namespace {

CUresult allocateFromPool(Context *context, MemoryPool &pool, CUdeviceptr *out, size_t bytes) {
  if (pool.properties.maxSize && pool.used + bytes > pool.properties.maxSize)
    return out && bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocateMemory(context, out, bytes, AllocationKind::Device);
  if (result != CUDA_SUCCESS)
    return result;
  pool.take(bytes);
  pool.device->pooledAllocations[*out] = &pool;
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!isCapturing(*on))
    return allocateFromPool(context, currentPool(*context->device), out, bytes);
  if (!out || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, context->device->ordinal};
  parameters.bytesize = bytes;
  MemoryAllocWork work;
  CUresult result = reserveAllocation(*context->device, parameters, work);
  if (result == CUDA_SUCCESS)
    result = captureWork(*on, std::move(work));
  *out = result == CUDA_SUCCESS ? parameters.dptr : 0;
  return result;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool handle, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  MemoryPool *pool = findPool(driver, handle);
  if (!pool || !out || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (isCapturing(*on))
    return cuMemAllocAsync(out, bytes, stream);
  if (pool->device != context->device)
    return CUDA_ERROR_NOT_SUPPORTED;
  return allocateFromPool(context, *pool, out, bytes);
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
  TENON_UNSAFE_CALL();
  driver.pendingFrees.insert(address);
  return enqueue(*on, MemoryFreeWork{address});
}
