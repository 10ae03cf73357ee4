// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/memory/memory_pool.h"

#include "emulator/driver/call.h"
#include "emulator/driver/device.h"

#include "support/align.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

constexpr uint64_t kReserveUnit = 2 << 20;

CUmemoryPool handleOf(MemoryPool *pool) {
  return reinterpret_cast<CUmemoryPool>(pool);
}

} // namespace

MemoryPool *findPool(Driver &driver, CUmemoryPool handle) {
  MemoryPool *pool = reinterpret_cast<MemoryPool *>(handle);
  if (driver.pools.count(pool))
    return pool;
  for (auto &device : driver.devices)
    if (pool && device->defaultPool.get() == pool)
      return pool;
  return nullptr;
}

MemoryPool &defaultPool(Device &device) {
  if (!device.defaultPool) {
    device.defaultPool = std::make_shared<MemoryPool>();
    device.defaultPool->device = &device;
  }
  return *device.defaultPool;
}

MemoryPool &currentPool(Device &device) {
  return device.currentPool ? *device.currentPool : defaultPool(device);
}

void MemoryPool::take(uint64_t bytes) {
  used += bytes;
  usedHigh = std::max(usedHigh, used);
  reserved = std::max(reserved, alignUp(used, kReserveUnit));
  reservedHigh = std::max(reservedHigh, reserved);
}
void MemoryPool::trim(uint64_t bytes) {
  reserved = std::max(alignUp(used, kReserveUnit), std::min(reserved, alignUp(bytes, kReserveUnit)));
}

bool isOfPool(const Device &device, uint64_t address) {
  return device.pooledAllocations.count(address) != 0;
}

void returnToPool(Device &device, uint64_t address) {
  auto it = device.pooledAllocations.find(address);
  if (it == device.pooledAllocations.end())
    return;
  if (const Allocation *allocation = device.memory->find(address))
    it->second->give(allocation->bytes);
  device.pooledAllocations.erase(it);
}

void trimPools(Driver &driver) {
  for (auto &device : driver.devices)
    if (MemoryPool *pool = device->defaultPool.get())
      pool->trim(pool->releaseThreshold);
  for (MemoryPool *pool : driver.pools)
    pool->trim(pool->releaseThreshold);
}

} // namespace tenon::emulator

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = handleOf(&defaultPool(*device));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = handleOf(&currentPool(*device));
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  MemoryPool *pool = findPool(driver, handle);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!pool || pool->device != device)
    return CUDA_ERROR_INVALID_VALUE;
  device->currentPool = pool;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties) {
  TENON_ENTER();
  if (!out || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_NOT_SUPPORTED; // no other process could open it
  Device *device = findDevice(properties->location.id);
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  MemoryPool *pool = new MemoryPool;
  pool->device = device;
  pool->properties = *properties;
  driver.pools.insert(pool);
  *out = handleOf(pool);
  return CUDA_SUCCESS;
}
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  TENON_ENTER();
  MemoryPool *pool = findPool(driver, handle);
  if (!pool || !driver.pools.count(pool)) // a default pool stays
    return CUDA_ERROR_INVALID_VALUE;
  Device &device = *pool->device;
  // What came from it lives on; it counts nowhere.
  std::erase_if(device.pooledAllocations, [&](const auto &entry) { return entry.second == pool; });
  if (device.currentPool == pool)
    device.currentPool = nullptr;
  driver.pools.erase(pool);
  delete pool;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes) {
  TENON_ENTER();
  MemoryPool *pool = findPool(driver, handle);
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  pool->trim(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
  TENON_ENTER();
  MemoryPool *pool = findPool(driver, handle);
  if (!pool || !value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *static_cast<int *>(value) != 0;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    pool->releaseThreshold = *static_cast<cuuint64_t *>(value);
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    if (*static_cast<cuuint64_t *>(value) != 0)
      return CUDA_ERROR_INVALID_VALUE; // they can only be reset
    (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? pool->usedHigh : pool->reservedHigh) = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
  TENON_ENTER();
  MemoryPool *pool = findPool(driver, handle);
  if (!pool || !value)
    return CUDA_ERROR_INVALID_VALUE;
  auto give = [&](uint64_t number) {
    *static_cast<cuuint64_t *>(value) = number;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    *static_cast<int *>(value) = pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return give(pool->releaseThreshold);
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    return give(pool->reserved);
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return give(pool->reservedHigh);
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return give(pool->used);
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    return give(pool->usedHigh);
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

// Sharing with other processes: none of them has this memory.
CUresult cuMemPoolExportToShareableHandle(void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long) {
  TENON_ENTER();
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *, void *, CUmemAllocationHandleType, unsigned long long) {
  TENON_ENTER();
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *, CUdeviceptr) {
  TENON_ENTER();
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemPoolImportPointer(CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *) {
  TENON_ENTER();
  return CUDA_ERROR_NOT_SUPPORTED;
}
