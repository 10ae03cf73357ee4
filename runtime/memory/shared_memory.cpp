// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handle -> reserved addresses -> mapping -> access, undone in reverse where a later step fails.
#include "runtime/memory/shared_memory.h"

#include "runtime/cuda/driver_status.h"
#include "support/align.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

/// Unimplemented: names what the driver lacks.
Status checkSupport(const Device &device) {
  const cuda::Driver &driver = device.driver();
  const char *missing = nullptr;
#define TENON_NEEDS(name)                                                                                              \
  if (!driver.name)                                                                                                    \
  missing = #name
  TENON_NEEDS(cuMemGetAllocationGranularity);
  TENON_NEEDS(cuMemCreate);
  TENON_NEEDS(cuMemRelease);
  TENON_NEEDS(cuMemAddressReserve);
  TENON_NEEDS(cuMemAddressFree);
  TENON_NEEDS(cuMemMap);
  TENON_NEEDS(cuMemUnmap);
  TENON_NEEDS(cuMemSetAccess);
  TENON_NEEDS(cuMemRetainAllocationHandle);
  TENON_NEEDS(cuMemExportToShareableHandle);
  TENON_NEEDS(cuMemImportFromShareableHandle);
#undef TENON_NEEDS
  return missing ? makeError(StatusCode::Unimplemented, "memory behind a descriptor: ", device.description(),
                             " has no ", missing)
                 : okStatus();
}

CUmemAllocationProp propertiesOf(const Device &device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
  return properties;
}

Result<uint64_t> mappedBytes(const Device &device, uint64_t bytes) {
  const CUmemAllocationProp properties = propertiesOf(device);
  size_t granularity = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      device.driver(),
      device.driver().cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity"));
  if (granularity == 0 || bytes > (uint64_t(1) << 62))
    return makeError(StatusCode::ResourceExhausted, "memory behind a descriptor: ", bytes, " bytes were asked for");
  return alignUp(std::max<uint64_t>(bytes, 1), granularity);
}

/// Addresses for a handle, `mapped` bytes of it. The mapping keeps the memory.
Result<CUdeviceptr> mapHandle(const Device &device, CUmemGenericAllocationHandle handle, uint64_t mapped) {
  const cuda::Driver &driver = device.driver();
  CUdeviceptr address = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuMemAddressReserve(&address, mapped, 0, 0, 0),
                                           concat("cuMemAddressReserve of ", mapped, " bytes")));
  Status status = cuda::driverStatus(driver, driver.cuMemMap(address, mapped, 0, handle, 0), "cuMemMap");
  if (status.ok()) {
    CUmemAccessDesc access = {};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    status = cuda::driverStatus(driver, driver.cuMemSetAccess(address, mapped, &access, 1), "cuMemSetAccess");
    if (!status.ok())
      (void)driver.cuMemUnmap(address, mapped);
  }
  if (status.ok())
    return address;
  (void)driver.cuMemAddressFree(address, mapped);
  return status;
}

/// A buffer of the memory whose handle `obtain(mapped bytes, handle)` gets.
template <typename Obtain>
Result<std::shared_ptr<Buffer>> mapMemory(Device &device, uint64_t bytes, const BufferOptions &options, Obtain obtain) {
  TENON_RETURN_IF_ERROR(checkSupport(device));
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(const uint64_t mapped, mappedBytes(device, bytes));
  // Unmapping does not wait for work. Freeing does, so each mapping has a byte that is freed before it goes.
  CUdeviceptr fence = 0, address = 0;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(device.driver(), device.driver().cuMemAlloc_v2(&fence, 1), "cuMemAlloc_v2 of 1 byte"));
  Status made = device.allocateCounted(mapped, [&]() -> Status {
    CUmemGenericAllocationHandle handle = 0;
    TENON_RETURN_IF_ERROR(obtain(mapped, handle));
    Result<CUdeviceptr> at = mapHandle(device, handle, mapped);
    (void)device.driver().cuMemRelease(handle);
    TENON_ASSIGN_OR_RETURN(address, std::move(at));
    return okStatus();
  });
  if (!made.ok()) {
    (void)device.driver().cuMemFree_v2(fence);
    return made;
  }
  return std::make_shared<Buffer>(device.shared_from_this(), address, bytes, options, nullptr,
                                  [owner = &device, fence, address, mapped] {
                                    ReleaseScope scope = owner->enterToRelease();
                                    (void)owner->driver().cuMemFree_v2(fence);
                                    (void)owner->driver().cuMemUnmap(address, mapped);
                                    (void)owner->driver().cuMemAddressFree(address, mapped);
                                    owner->freeCounted(mapped);
                                  });
}

} // namespace

Result<std::shared_ptr<Buffer>> allocateShareable(Device &device, uint64_t bytes, const BufferOptions &options) {
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(options));
  return mapMemory(device, bytes, local, [&](uint64_t mapped, CUmemGenericAllocationHandle &handle) {
    const CUmemAllocationProp properties = propertiesOf(device);
    return cuda::driverStatus(device.driver(), device.driver().cuMemCreate(&handle, mapped, &properties, 0),
                              concat("cuMemCreate of ", mapped, " bytes for a descriptor"));
  });
}

Result<int> exportDescriptor(const Buffer &buffer) {
  Device &device = buffer.device();
  TENON_RETURN_IF_ERROR(checkSupport(device));
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device.driver();
  CUmemGenericAllocationHandle handle = 0;
  Status found = cuda::driverStatus(
      driver, driver.cuMemRetainAllocationHandle(&handle, reinterpret_cast<void *>(buffer.address())),
      "cuMemRetainAllocationHandle");
  if (!found.ok())
    return std::move(found).withContext("only memory of allocateShareable has a descriptor");
  int descriptor = -1;
  Status exported = cuda::driverStatus(
      driver, driver.cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      "cuMemExportToShareableHandle");
  (void)driver.cuMemRelease(handle);
  TENON_RETURN_IF_ERROR(std::move(exported));
  return descriptor;
}

Result<std::shared_ptr<Buffer>> importDescriptor(Device &device, int descriptor, uint64_t bytes,
                                                 const BufferOptions &options) {
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(options));
  if (descriptor < 0)
    return makeError(StatusCode::InvalidArgument, "memory behind a descriptor: ", descriptor, " is none");
  return mapMemory(device, bytes, local, [&](uint64_t, CUmemGenericAllocationHandle &handle) {
    return cuda::driverStatus(device.driver(),
                              device.driver().cuMemImportFromShareableHandle(
                                  &handle, reinterpret_cast<void *>(static_cast<intptr_t>(descriptor)),
                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                              concat("cuMemImportFromShareableHandle of descriptor ", descriptor));
  });
}

} // namespace tenon::runtime
