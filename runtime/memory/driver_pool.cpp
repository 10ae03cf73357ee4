// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the driver, and its words where it has no memory.
#include "runtime/memory/driver_pool.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"

namespace tenon::runtime {

Result<std::shared_ptr<Pool>> DriverPool::create(std::shared_ptr<Device> device, const DriverPoolOptions &options) {
  const cuda::Driver &driver = device->driver();
  if (!device->hasMemoryPools() || !driver.cuMemPoolCreate || !driver.cuMemPoolDestroy ||
      !driver.cuMemPoolSetAttribute || !driver.cuMemPoolTrimTo || !driver.cuMemAllocFromPoolAsync)
    return makeError(StatusCode::Unimplemented, "pool '", options.name, "': ", device->description(),
                     " has no memory pools (cuMemPoolCreate, 11.2)");
  cuda::ContextScope scope = device->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device->ordinal();
  CUmemoryPool pool = nullptr;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate"));
  std::shared_ptr<DriverPool> made(new DriverPool(device, options, pool));
  cuuint64_t threshold = options.releaseThreshold;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
                         "cuMemPoolSetAttribute(RELEASE_THRESHOLD)"));
  return std::shared_ptr<Pool>(std::move(made));
}

DriverPool::DriverPool(std::shared_ptr<Device> device, const DriverPoolOptions &options, CUmemoryPool pool)
    : Pool(std::move(device), options.name, options.limitBytes), pool_(pool) {}

DriverPool::~DriverPool() {
  ReleaseScope scope = device_->enterToRelease();
  (void)device_->driver().cuMemPoolDestroy(pool_);
}

Status DriverPool::checkRequest(uint64_t bytes, uint64_t alignment) const {
  if (alignment > kBufferAlignment)
    return makeError(StatusCode::InvalidArgument, describe(), ": an alignment of ", alignment,
                     " bytes was asked for, the driver promises ", kBufferAlignment);
  if (bytes > mayReserve(0))
    return makeError(StatusCode::ResourceExhausted, describe(), ": ", bytes, " bytes were asked for, the limit is ",
                     limitBytes_);
  return okStatus();
}

Result<std::optional<PoolMemory>> DriverPool::takeLocked(CUstream stream, uint64_t bytes, uint64_t) {
  if (bytes > mayReserve(reserved_))
    return std::optional<PoolMemory>();
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUdeviceptr address = 0;
  TENON_RETURN_IF_ERROR(device_->allocateCounted(bytes, [&] {
    return cuda::driverStatus(device_->driver(),
                              device_->driver().cuMemAllocFromPoolAsync(&address, bytes, pool_, stream),
                              concat("cuMemAllocFromPoolAsync of ", bytes, " bytes"));
  }));
  reserved_ += bytes;
  return std::optional(PoolMemory{address, {}});
}

Status DriverPool::returnOnStream(uint64_t address, CUstream stream) {
  std::map<const void *, std::function<void()>> woken;
  {
    std::lock_guard lock(mutex_);
    auto piece = live_.find(address);
    if (piece == live_.end())
      return makeError(StatusCode::Internal, describe(), ": what is returned is not the pool's");
    TENON_RETURN_IF_ERROR(
        cuda::driverStatus(device_->driver(), device_->driver().cuMemFreeAsync(address, stream), "cuMemFreeAsync"));
    device_->freeCounted(piece->second.taken);
    reserved_ -= piece->second.taken;
    woken = forgetLocked(piece);
  }
  for (auto &[key, wake] : woken)
    wake();
  return okStatus();
}

/// Nobody uses it any more; the device's own stream returns it.
void DriverPool::giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &) {
  freeDeviceMemory(*device_, address, bytes, DeviceAllocator::StreamOrdered);
  reserved_ -= bytes;
}

void DriverPool::fillStatistics(PoolStatistics &out) const {
  out.bytesReserved = reserved_; // and what the driver keeps, which it alone knows
}

Status DriverPool::trim() {
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return cuda::driverStatus(device_->driver(), device_->driver().cuMemPoolTrimTo(pool_, 0), "cuMemPoolTrimTo");
}

} // namespace tenon::runtime
