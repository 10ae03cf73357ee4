// One driver call per command, with the device's context current around it, and the call's name in its error.
#include "runtime/queue.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device.h"

namespace tenon::runtime {

namespace {

Status checkRange(const Buffer &buffer, uint64_t offset, uint64_t bytes) {
  if (offset > buffer.size() || bytes > buffer.size() - offset)
    return makeError(StatusCode::OutOfRange, "bytes ", offset, " to ", offset + bytes, " of a buffer of ",
                     buffer.size(), " bytes");
  return okStatus();
}

} // namespace

Status Queue::upload(Buffer &target, uint64_t offset, std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkRange(target, offset, bytes.size()));
  if (bytes.empty())
    return okStatus();
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuMemcpyHtoDAsync_v2(target.address() + offset, bytes.data(), bytes.size(), stream_.get()),
      concat("cuMemcpyHtoDAsync_v2 of ", bytes.size(), " bytes")));
  return synchronize(); // the driver may still read pageable memory
}

Status Queue::download(const Buffer &source, uint64_t offset, std::span<uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkRange(source, offset, bytes.size()));
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  if (!bytes.empty())
    TENON_RETURN_IF_ERROR(cuda::driverStatus(
        driver, driver.cuMemcpyDtoHAsync_v2(bytes.data(), source.address() + offset, bytes.size(), stream_.get()),
        concat("cuMemcpyDtoHAsync_v2 of ", bytes.size(), " bytes")));
  return synchronize();
}

Status Queue::copy(DeviceRange source, DeviceRange target) {
  if (source.bytes != target.bytes)
    return makeError(StatusCode::InvalidArgument, "a copy of ", source.bytes, " bytes into ", target.bytes, " bytes");
  if (source.bytes == 0)
    return okStatus();
  if (source.address < target.address + target.bytes && target.address < source.address + source.bytes)
    return makeError(StatusCode::InvalidArgument, "a copy between overlapping ranges of ", source.bytes, " bytes");
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  return cuda::driverStatus(driver,
                            driver.cuMemcpyDtoDAsync_v2(target.address, source.address, source.bytes, stream_.get()),
                            concat("cuMemcpyDtoDAsync_v2 of ", source.bytes, " bytes"));
}

Status Queue::fill(DeviceRange target, uint32_t pattern, uint32_t patternBytes) {
  if (patternBytes != 1 && patternBytes != 2 && patternBytes != 4)
    return makeError(StatusCode::InvalidArgument, "a fill pattern of ", patternBytes,
                     " bytes; 1, 2 and 4 are possible");
  if (target.bytes % patternBytes != 0 || target.address % patternBytes != 0)
    return makeError(StatusCode::InvalidArgument, "a fill of ", target.bytes, " bytes at address ", target.address,
                     " with a pattern of ", patternBytes, " bytes: both must be multiples of it");
  if (target.bytes == 0)
    return okStatus();
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  const size_t count = target.bytes / patternBytes;
  CUresult result;
  if (patternBytes == 1)
    result = driver.cuMemsetD8Async(target.address, static_cast<uint8_t>(pattern), count, stream_.get());
  else if (patternBytes == 2)
    result = driver.cuMemsetD16Async(target.address, static_cast<uint16_t>(pattern), count, stream_.get());
  else
    result = driver.cuMemsetD32Async(target.address, pattern, count, stream_.get());
  return cuda::driverStatus(driver, result, concat("cuMemsetD", patternBytes * 8, "Async of ", count, " elements"));
}

Status Queue::launch(CUfunction function, const std::array<uint32_t, 3> &grid, const abi::Launch &launch,
                     void **parameters) {
  const cuda::Driver &driver = device_.driver();
  const abi::Extent3 &block = launch.workgroupSize;
  const bool hasCluster = launch.cluster != abi::Extent3{0, 0, 0};
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());

  if (!hasCluster && !launch.cooperative && !launch.programmaticDependentLaunch)
    return cuda::driverStatus(driver,
                              driver.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                                    launch.dynamicSharedBytes, stream_.get(), parameters, nullptr),
                              "cuLaunchKernel");

  if (!driver.cuLaunchKernelEx)
    return makeError(StatusCode::Unimplemented, "the driver '", driver.path(),
                     "' has no cuLaunchKernelEx, which clusters, cooperative and programmatic launches need");
  std::array<CUlaunchAttribute, 3> attributes = {};
  unsigned count = 0;
  if (hasCluster) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim.x = launch.cluster[0];
    attributes[count].value.clusterDim.y = launch.cluster[1];
    attributes[count++].value.clusterDim.z = launch.cluster[2];
  }
  if (launch.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count++].value.cooperative = 1;
  }
  if (launch.programmaticDependentLaunch) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig config = {};
  config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
  config.blockDimX = block[0], config.blockDimY = block[1], config.blockDimZ = block[2];
  config.sharedMemBytes = launch.dynamicSharedBytes;
  config.hStream = stream_.get();
  config.attrs = attributes.data();
  config.numAttrs = count;
  return cuda::driverStatus(driver, driver.cuLaunchKernelEx(&config, function, parameters, nullptr),
                            "cuLaunchKernelEx");
}

Status Queue::synchronize() {
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  return cuda::driverStatus(driver, driver.cuStreamSynchronize(stream_.get()), "cuStreamSynchronize");
}

} // namespace tenon::runtime
