// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening a device: context -> stream. Then counts, and the memory limit.
#include "runtime/device/device.h"

#include "runtime/cuda/first_fault.h"

namespace tenon::runtime {

std::string Statistics::toString() const {
  return concat("allocations: ", allocations, "\nfrees: ", frees, "\nbytes live: ", bytesLive,
                "\nbytes peak: ", bytesPeak, "\nlaunches: ", launches, "\nmodules loaded: ", modulesLoaded,
                "\nPTX compiled: ", jitCompilations, "\nPTX found compiled in the cache: ", jitCacheHits,
                "\ngraphs instantiated: ", graphsInstantiated, "\ngraph nodes patched: ", graphNodesPatched, "\n");
}

Result<std::shared_ptr<Device>> Device::open(const cuda::DeviceSelector &selector, const cuda::DriverSearch &search) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<cuda::Driver> driver, cuda::Driver::open(selector, search));
  return create(std::move(driver), selector.ordinal);
}

Result<std::shared_ptr<Device>> Device::create(std::shared_ptr<const cuda::Driver> driver, int ordinal) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Context> context, Context::open(std::move(driver), ordinal));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, Stream::create(*context));
  return std::shared_ptr<Device>(new Device(std::move(context), std::move(stream)));
}

Device::~Device() {
  endProfiling();
}

void Device::rememberFault(const Status &status) const {
  if (status.code() == StatusCode::Aborted)
    cuda::rememberFault(driver().path(), description(), status);
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
      driver().cuMemGetInfo_v2(&freeBytes, &totalBytes) == CUDA_SUCCESS)
    status = makeError(StatusCode::ResourceExhausted, status.message(), "; ", freeBytes, " of the device's ",
                       totalBytes, " bytes are free, ", live, " are taken by this runtime");
  return status;
}

void Device::freeCounted(uint64_t bytes) {
  deviceBytes_.fetch_sub(bytes, std::memory_order_relaxed);
  countFree(bytes);
}

Status Device::beginProfiling(ProfileFilter filter, ProfileSink sink) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Profile> made,
                         Profile::create(*context_, stream_->handle(), std::move(filter), std::move(sink)));
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
