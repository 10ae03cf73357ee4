// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands with the device's context current around them; the driver's calls are in stream_commands.cpp.
#include "runtime/device/queue.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"

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
  if (source.bytes == 0)
    return checkCopy(source, target);
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return copyOnStream(device_.driver(), stream_.get(), source, target);
}

Status Queue::fill(DeviceRange target, uint32_t pattern, uint32_t patternBytes) {
  if (target.bytes == 0)
    return checkFill(target, patternBytes);
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return fillOnStream(device_.driver(), stream_.get(), target, pattern, patternBytes);
}

Status Queue::launch(CUfunction function, const std::array<uint32_t, 3> &grid, const abi::Launch &launch,
                     void **parameters) {
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return launchOnStream(device_.driver(), stream_.get(), function, grid, launch, parameters);
}

Status Queue::synchronize() {
  cuda::ContextScope scope = device_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_.driver();
  return cuda::driverStatus(driver, driver.cuStreamSynchronize(stream_.get()), "cuStreamSynchronize");
}

} // namespace tenon::runtime
