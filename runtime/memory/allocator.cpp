// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One driver call per kind of memory, undone in reverse where a later step fails.
#include "runtime/memory/allocator.h"

#include "runtime/cuda/driver_status.h"

namespace tenon::runtime {

namespace {

Result<std::shared_ptr<Buffer>> allocateDeviceLocal(Device &device, uint64_t bytes, const BufferOptions &options) {
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(options));
  TENON_ASSIGN_OR_RETURN(const uint64_t address, allocateDeviceMemory(device, bytes));
  return std::make_shared<Buffer>(device.shared_from_this(), address, bytes, DeviceAllocator::Plain, local);
}

Result<std::shared_ptr<Buffer>> allocateHostVisible(Device &device, uint64_t bytes, const BufferOptions &options) {
  const cuda::Driver &driver = device.driver();
  void *host = nullptr;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver,
      driver.cuMemHostAlloc(&host, bytes == 0 ? 1 : bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
      concat("cuMemHostAlloc of ", bytes, " bytes")));
  CUdeviceptr address = 0;
  Status mapped = cuda::driverStatus(driver, driver.cuMemHostGetDevicePointer_v2(&address, host, 0),
                                     "cuMemHostGetDevicePointer_v2");
  if (!mapped.ok()) {
    (void)driver.cuMemFreeHost(host);
    return mapped;
  }
  device.countAllocation(bytes);
  return std::make_shared<Buffer>(device.shared_from_this(), address, bytes, options, host,
                                  [owner = &device, host, bytes] {
                                    ReleaseScope scope = owner->enterToRelease();
                                    (void)owner->driver().cuMemFreeHost(host);
                                    owner->countFree(bytes);
                                  });
}

} // namespace

Result<std::shared_ptr<Buffer>> allocateBuffer(Device &device, uint64_t bytes, const BufferOptions &options) {
  TENON_RETURN_IF_ERROR(checkBufferOptions(options));
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  switch (options.memory) {
  case MemoryType::DeviceLocal:
    return allocateDeviceLocal(device, bytes, options);
  case MemoryType::HostVisible:
    return allocateHostVisible(device, bytes, options);
  }
  return makeError(StatusCode::InvalidArgument, "unknown memory type ", static_cast<int>(options.memory));
}

Result<std::shared_ptr<Buffer>> allocateOnStream(Device &device, uint64_t bytes) {
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(const StreamMemory memory, allocateStreamMemory(device, bytes, device.stream().handle()));
  return std::make_shared<Buffer>(device.shared_from_this(), memory.address, bytes, memory.allocator);
}

Result<std::shared_ptr<Buffer>> importDeviceMemory(Device &device, uint64_t address, uint64_t bytes,
                                                   const BufferOptions &options, Buffer::Release released) {
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(options));
  if (address == 0 && bytes != 0)
    return makeError(StatusCode::InvalidArgument, "a null address was given for ", bytes, " bytes to import");
  if (bytes > UINT64_MAX - address)
    return makeError(StatusCode::InvalidArgument, "device memory to import: ", bytes, " bytes from address ", address,
                     " on end behind the last address");
  return std::make_shared<Buffer>(device.shared_from_this(), address, bytes, local, nullptr, std::move(released));
}

Result<std::shared_ptr<Buffer>> importHostMemory(Device &device, void *memory, uint64_t bytes,
                                                 const BufferOptions &options, Buffer::Release released) {
  TENON_RETURN_IF_ERROR(checkBufferOptions(options));
  if (!memory || bytes == 0)
    return makeError(StatusCode::InvalidArgument, "host memory to import: ", bytes, " bytes at ",
                     memory ? "an address" : "a null address");
  if (bytes > UINT64_MAX - reinterpret_cast<uint64_t>(memory))
    return makeError(StatusCode::InvalidArgument, "host memory to import: ", bytes, " bytes from address ",
                     reinterpret_cast<uint64_t>(memory), " on end behind the last address");
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device.driver();
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
      concat("cuMemHostRegister_v2 of ", bytes, " bytes")));
  CUdeviceptr address = 0;
  Status mapped = cuda::driverStatus(driver, driver.cuMemHostGetDevicePointer_v2(&address, memory, 0),
                                     "cuMemHostGetDevicePointer_v2");
  if (!mapped.ok()) {
    (void)driver.cuMemHostUnregister(memory);
    return mapped;
  }
  BufferOptions hostOptions = options;
  hostOptions.memory = MemoryType::HostVisible;
  return std::make_shared<Buffer>(device.shared_from_this(), address, bytes, hostOptions, memory,
                                  [owner = &device, memory, released = std::move(released)] {
                                    {
                                      ReleaseScope scope = owner->enterToRelease();
                                      (void)owner->driver().cuMemHostUnregister(memory);
                                    }
                                    if (released)
                                      released();
                                  });
}

Result<MemoryInfo> queryMemory(Device &device) {
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  size_t freeBytes = 0, totalBytes = 0;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(device.driver(), device.driver().cuMemGetInfo_v2(&freeBytes, &totalBytes), "cuMemGetInfo_v2"));
  return MemoryInfo{freeBytes, totalBytes};
}

} // namespace tenon::runtime
