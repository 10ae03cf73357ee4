// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ordinal -> attributes -> primary context.
#include "runtime/device/context.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

constexpr std::string_view kEmulatorName = "Tenon emulator";

Result<CUdevice> deviceHandle(const cuda::Driver &driver, int64_t ordinal) {
  TENON_ASSIGN_OR_RETURN(int count, driver.deviceCount());
  if (ordinal < 0 || ordinal >= count)
    return makeError(StatusCode::Unavailable, "no device ", ordinal, ": the driver '", driver.path(), "' has ", count,
                     count == 1 ? " device" : " devices");
  CUdevice handle = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuDeviceGet(&handle, static_cast<int>(ordinal)),
                                           concat("cuDeviceGet(", ordinal, ")")));
  return handle;
}

} // namespace

Result<DeviceInfo> queryDeviceInfo(const cuda::Driver &driver, size_t ordinal) {
  TENON_ASSIGN_OR_RETURN(const CUdevice handle, deviceHandle(driver, static_cast<int64_t>(ordinal)));
  DeviceInfo info;
  char name[256] = {};
  int major = 0, minor = 0;
  size_t bytes = 0;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuDeviceGetName(name, sizeof(name) - 1, handle), "cuDeviceGetName"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle),
      "cuDeviceGetAttribute"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle),
      "cuDeviceGetAttribute"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuDeviceTotalMem_v2(&bytes, handle), "cuDeviceTotalMem_v2"));
  CUuuid uuid = {};
  if (driver.cuDeviceGetUuid_v2 && driver.cuDeviceGetUuid_v2(&uuid, handle) == CUDA_SUCCESS)
    std::copy(std::begin(uuid.bytes), std::end(uuid.bytes), info.uuid.begin());
  info.name = name;
  info.computeCapability = static_cast<uint32_t>(10 * major + minor);
  info.memoryBytes = bytes;
  info.isEmulator = info.name.starts_with(kEmulatorName);
  return info;
}

Result<std::unique_ptr<Context>> Context::open(std::shared_ptr<const cuda::Driver> driver, int ordinal) {
  TENON_ASSIGN_OR_RETURN(const CUdevice device, deviceHandle(*driver, ordinal));
  std::unique_ptr<Context> context(new Context(std::move(driver), device));
  TENON_RETURN_IF_ERROR(context->readTraits());
  TENON_RETURN_IF_ERROR(cuda::driverStatus(context->driver(),
                                           context->driver().cuDevicePrimaryCtxRetain(&context->context_, device),
                                           "cuDevicePrimaryCtxRetain"));
  return context;
}

Context::~Context() {
  if (context_)
    (void)driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

Result<int> Context::attribute(CUdevice_attribute attribute, const char *name) const {
  int value = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(*driver_, driver_->cuDeviceGetAttribute(&value, attribute, device_),
                                           concat("cuDeviceGetAttribute(", name, ")")));
  return value;
}

Status Context::readTraits() {
#define TENON_DEVICE_ATTRIBUTE(variable, name)                                                                         \
  TENON_ASSIGN_OR_RETURN(const int variable, attribute(CU_DEVICE_ATTRIBUTE_##name, #name))
  TENON_DEVICE_ATTRIBUTE(major, COMPUTE_CAPABILITY_MAJOR);
  TENON_DEVICE_ATTRIBUTE(minor, COMPUTE_CAPABILITY_MINOR);
  TENON_DEVICE_ATTRIBUTE(threads, MAX_THREADS_PER_BLOCK);
  TENON_DEVICE_ATTRIBUTE(shared, MAX_SHARED_MEMORY_PER_BLOCK);
  TENON_DEVICE_ATTRIBUTE(sharedOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  TENON_DEVICE_ATTRIBUTE(multiprocessors, MULTIPROCESSOR_COUNT);
#undef TENON_DEVICE_ATTRIBUTE

  char name[256] = {};
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(*driver_, driver_->cuDeviceGetName(name, sizeof(name) - 1, device_), "cuDeviceGetName"));
  traits_.name = name;
  traits_.computeCapability = static_cast<uint16_t>(10 * major + minor);
  traits_.driverVersion = driver_->version();
  traits_.acceptsCubin = !traits_.name.starts_with(kEmulatorName);
  traits_.maxThreadsPerBlock = static_cast<uint32_t>(threads);
  traits_.maxSharedOptinBytes = static_cast<uint32_t>(std::max(sharedOptin, shared));
  sharedBytesWithoutOptin_ = static_cast<uint32_t>(shared);
  multiprocessors_ = static_cast<uint32_t>(std::max(multiprocessors, 1));

  // Older drivers do not know the question.
  int pools = 0;
  hasMemoryPools_ =
      driver_->cuMemAllocAsync && driver_->cuMemFreeAsync &&
      driver_->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device_) == CUDA_SUCCESS &&
      pools != 0;
  return okStatus();
}

std::string Context::description() const {
  return concat("'", traits_.name, "' (sm_", traits_.computeCapability, ", driver ", traits_.driverVersion / 1000, '.',
                traits_.driverVersion % 1000 / 10, ")");
}

} // namespace tenon::runtime
