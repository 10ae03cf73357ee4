// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening a device: ordinal -> attributes -> primary context -> stream. Memory comes from the driver's stream-ordered
// pool where it has one (11.2 and later), from cuMemAlloc elsewhere.
#include "runtime/device/device.h"

#include "runtime/cuda/driver_status.h"

#include <algorithm>

namespace tenon::runtime {

std::string Statistics::toString() const {
  return concat("allocations: ", allocations, "\nfrees: ", frees, "\nbytes live: ", bytesLive,
                "\nbytes peak: ", bytesPeak, "\nlaunches: ", launches, "\nmodules loaded: ", modulesLoaded,
                "\nPTX compiled: ", jitCompilations, "\nPTX found compiled in the cache: ", jitCacheHits,
                "\ngraphs instantiated: ", graphsInstantiated, "\ngraph nodes patched: ", graphNodesPatched, "\n");
}

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

Result<std::shared_ptr<Device>> Device::open(const cuda::DeviceSelector &selector, const cuda::DriverSearch &search) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<cuda::Driver> driver, cuda::Driver::open(selector, search));
  return create(std::move(driver), selector.ordinal);
}

Result<std::shared_ptr<Device>> Device::create(std::shared_ptr<const cuda::Driver> driver, int ordinal) {
  TENON_ASSIGN_OR_RETURN(const CUdevice handle, deviceHandle(*driver, ordinal));
  std::shared_ptr<Device> device(new Device(std::move(driver), handle));
  TENON_RETURN_IF_ERROR(device->readTraits());
  TENON_RETURN_IF_ERROR(cuda::driverStatus(device->driver(),
                                           device->driver().cuDevicePrimaryCtxRetain(&device->context_, handle),
                                           "cuDevicePrimaryCtxRetain"));
  TENON_RETURN_IF_ERROR(device->createQueue());
  return device;
}

Device::~Device() {
  endProfiling();
  if (!context_)
    return;
  if (queue_) {
    cuda::ContextScope scope = enter();
    queue_.reset();
  }
  (void)driver_->cuDevicePrimaryCtxRelease_v2(handle_);
}

Result<int> Device::attribute(CUdevice_attribute attribute, const char *name) const {
  int value = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(*driver_, driver_->cuDeviceGetAttribute(&value, attribute, handle_),
                                           concat("cuDeviceGetAttribute(", name, ")")));
  return value;
}

Status Device::readTraits() {
#define TENON_DEVICE_ATTRIBUTE(variable, name)                                                                         \
  TENON_ASSIGN_OR_RETURN(const int variable, attribute(CU_DEVICE_ATTRIBUTE_##name, #name))
  TENON_DEVICE_ATTRIBUTE(major, COMPUTE_CAPABILITY_MAJOR);
  TENON_DEVICE_ATTRIBUTE(minor, COMPUTE_CAPABILITY_MINOR);
  TENON_DEVICE_ATTRIBUTE(threads, MAX_THREADS_PER_BLOCK);
  TENON_DEVICE_ATTRIBUTE(shared, MAX_SHARED_MEMORY_PER_BLOCK);
  TENON_DEVICE_ATTRIBUTE(sharedOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
#undef TENON_DEVICE_ATTRIBUTE

  char name[256] = {};
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(*driver_, driver_->cuDeviceGetName(name, sizeof(name) - 1, handle_), "cuDeviceGetName"));
  traits_.name = name;
  traits_.computeCapability = static_cast<uint16_t>(10 * major + minor);
  traits_.driverVersion = driver_->version();
  traits_.acceptsCubin = !traits_.name.starts_with(kEmulatorName);
  traits_.maxThreadsPerBlock = static_cast<uint32_t>(threads);
  traits_.maxSharedOptinBytes = static_cast<uint32_t>(std::max(sharedOptin, shared));
  sharedBytesWithoutOptin_ = static_cast<uint32_t>(shared);

  // Older drivers do not know the question.
  int pools = 0;
  hasMemoryPools_ =
      driver_->cuMemAllocAsync && driver_->cuMemFreeAsync &&
      driver_->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, handle_) == CUDA_SUCCESS &&
      pools != 0;
  return okStatus();
}

Status Device::createQueue() {
  cuda::ContextScope scope = enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUstream stream = nullptr;
  // Not ordered with the legacy default stream, which belongs to other libraries of the process.
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(*driver_, driver_->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  queue_ = std::make_unique<Queue>(*this, cuda::Stream(*driver_, stream));
  return okStatus();
}

std::string Device::description() const {
  return concat("'", traits_.name, "' (sm_", traits_.computeCapability, ", driver ", traits_.driverVersion / 1000, '.',
                traits_.driverVersion % 1000 / 10, ")");
}

Result<std::shared_ptr<Buffer>> Device::allocate(uint64_t bytes) {
  cuda::ContextScope scope = enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUdeviceptr address = 0;
  // The driver refuses 0 bytes; an empty tensor still has an address of its own.
  const size_t asked = bytes == 0 ? 1 : bytes;
  TENON_RETURN_IF_ERROR(allocateCounted(bytes, [&] {
    if (hasMemoryPools_)
      return cuda::driverStatus(*driver_, driver_->cuMemAllocAsync(&address, asked, queue_->handle()),
                                concat("cuMemAllocAsync of ", asked, " bytes"));
    return cuda::driverStatus(*driver_, driver_->cuMemAlloc_v2(&address, asked),
                              concat("cuMemAlloc_v2 of ", asked, " bytes"));
  }));
  return std::make_shared<Buffer>(shared_from_this(), address, bytes, hasMemoryPools_);
}

void Device::release(uint64_t address, uint64_t bytes, bool streamOrdered) {
  cuda::ContextScope scope = enter();
  // Nobody can act on a failure here: after a kernel's fault the driver refuses, and the context takes the memory
  // along.
  if (streamOrdered)
    (void)driver_->cuMemFreeAsync(address, queue_->handle());
  else
    (void)driver_->cuMemFree_v2(address);
  freeCounted(bytes);
}

Status Device::allocateCounted(uint64_t bytes, const std::function<Status()> &call) {
  const uint64_t limit = memoryLimit_.load(std::memory_order_relaxed);
  uint64_t live = deviceBytes_.load(std::memory_order_relaxed);
  do {
    if (limit != 0 && (live > limit || bytes > limit - live))
      return makeError(StatusCode::ResourceExhausted, "out of memory: ", bytes, " bytes were asked for, ", live,
                       " of the limit of ", limit, " bytes are taken on ", description());
  } while (!deviceBytes_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
  Status status = call();
  if (status.ok()) {
    countAllocation(bytes);
    return status;
  }
  deviceBytes_.fetch_sub(bytes, std::memory_order_relaxed);
  size_t freeBytes = 0, totalBytes = 0;
  if (status.code() == StatusCode::ResourceExhausted &&
      driver_->cuMemGetInfo_v2(&freeBytes, &totalBytes) == CUDA_SUCCESS)
    status = makeError(StatusCode::ResourceExhausted, status.message(), "; ", freeBytes, " of the device's ",
                       totalBytes, " bytes are free, ", live, " are taken by this runtime");
  return status;
}

void Device::freeCounted(uint64_t bytes) {
  deviceBytes_.fetch_sub(bytes, std::memory_order_relaxed);
  countFree(bytes);
}

Status Device::beginProfiling(ProfileFilter filter, ProfileSink sink) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Profile> made, Profile::create(*this, std::move(filter), std::move(sink)));
  endProfiling();
  std::lock_guard lock(profileMutex_);
  profile_ = std::move(made);
  isProfiled_ = true;
  return okStatus();
}

void Device::endProfiling() {
  std::shared_ptr<Profile> ended;
  {
    std::lock_guard lock(profileMutex_);
    ended = std::move(profile_);
    isProfiled_ = false;
  }
  if (ended)
    ended->close();
}

std::shared_ptr<Profile> Device::profile() const {
  if (!isProfiled_.load(std::memory_order_relaxed))
    return nullptr;
  std::lock_guard lock(profileMutex_);
  return profile_;
}

void Device::countAllocation(uint64_t bytes) {
  allocations_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t live = bytesLive_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  for (uint64_t peak = bytesPeak_.load(); peak < live && !bytesPeak_.compare_exchange_weak(peak, live);) {
  }
}

void Device::countFree(uint64_t bytes) {
  frees_.fetch_add(1, std::memory_order_relaxed);
  bytesLive_.fetch_sub(bytes, std::memory_order_relaxed);
}

Statistics Device::statistics() const {
  return {allocations_.load(),      frees_.load(),        bytesLive_.load(),
          bytesPeak_.load(),        launches_.load(),     modulesLoaded_.load(),
          jitCompilations_.load(),  jitCacheHits_.load(), graphsInstantiated_.load(),
          graphNodesPatched_.load()};
}

} // namespace tenon::runtime
