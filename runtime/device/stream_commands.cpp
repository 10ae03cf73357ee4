// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument checks that the driver would answer with a bare number, then the call.
#include "runtime/device/stream_commands.h"

#include "abi/arch_table.h"
#include "runtime/cuda/driver_status.h"

namespace tenon::runtime {

Status checkGrid(std::span<const int64_t> counts, int64_t least) {
  for (size_t axis = 0; axis < counts.size(); ++axis)
    if (counts[axis] < least || counts[axis] > abi::kMaxGrid[axis])
      return makeError(StatusCode::OutOfRange, "the workgroup count is ", counts[axis], " along ", "xyz"[axis],
                       ", possible are ", least, " to ", abi::kMaxGrid[axis]);
  return okStatus();
}

Status checkGrid(const std::array<uint32_t, 3> &grid) {
  return checkGrid(std::array<int64_t, 3>{grid[0], grid[1], grid[2]});
}

Status checkCopy(DeviceRange source, DeviceRange target) {
  if (source.bytes != target.bytes)
    return makeError(StatusCode::InvalidArgument, "a copy of ", source.bytes, " bytes into ", target.bytes, " bytes");
  if (source.address < target.address + target.bytes && target.address < source.address + source.bytes)
    return makeError(StatusCode::InvalidArgument, "a copy between overlapping ranges of ", source.bytes, " bytes");
  return okStatus();
}

Status checkFill(DeviceRange target, uint32_t patternBytes) {
  if (patternBytes != 1 && patternBytes != 2 && patternBytes != 4)
    return makeError(StatusCode::InvalidArgument, "a fill pattern of ", patternBytes,
                     " bytes; 1, 2 and 4 are possible");
  if (target.bytes % patternBytes != 0 || target.address % patternBytes != 0)
    return makeError(StatusCode::InvalidArgument, "a fill of ", target.bytes, " bytes at address ", target.address,
                     " with a pattern of ", patternBytes, " bytes: both must be multiples of it");
  return okStatus();
}

Status copyOnStream(const cuda::Driver &driver, CUstream stream, DeviceRange source, DeviceRange target) {
  TENON_RETURN_IF_ERROR(checkCopy(source, target));
  if (source.bytes == 0)
    return okStatus();
  const CUresult result = driver.cuMemcpyDtoDAsync_v2(target.address, source.address, source.bytes, stream);
  if (result == CUDA_SUCCESS) // which makes no message
    return okStatus();
  return cuda::driverStatus(driver, result, concat("cuMemcpyDtoDAsync_v2 of ", source.bytes, " bytes"));
}

Status fillOnStream(const cuda::Driver &driver, CUstream stream, DeviceRange target, uint32_t pattern,
                    uint32_t patternBytes) {
  TENON_RETURN_IF_ERROR(checkFill(target, patternBytes));
  if (target.bytes == 0)
    return okStatus();
  const size_t count = target.bytes / patternBytes;
  CUresult result;
  if (patternBytes == 1)
    result = driver.cuMemsetD8Async(target.address, static_cast<uint8_t>(pattern), count, stream);
  else if (patternBytes == 2)
    result = driver.cuMemsetD16Async(target.address, static_cast<uint16_t>(pattern), count, stream);
  else
    result = driver.cuMemsetD32Async(target.address, pattern, count, stream);
  if (result == CUDA_SUCCESS)
    return okStatus();
  return cuda::driverStatus(driver, result, concat("cuMemsetD", patternBytes * 8, "Async of ", count, " elements"));
}

Status launchOnStream(const cuda::Driver &driver, CUstream stream, CUfunction function,
                      const std::array<uint32_t, 3> &grid, const abi::Launch &launch, void **parameters) {
  const abi::Extent3 &block = launch.workgroupSize;
  const bool hasCluster = launch.cluster != abi::Extent3{0, 0, 0};

  if (!hasCluster && !launch.cooperative && !launch.programmaticDependentLaunch)
    return cuda::driverStatus(driver,
                              driver.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                                    launch.dynamicSharedBytes, stream, parameters, nullptr),
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
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = count;
  return cuda::driverStatus(driver, driver.cuLaunchKernelEx(&config, function, parameters, nullptr),
                            "cuLaunchKernelEx");
}

} // namespace tenon::runtime
