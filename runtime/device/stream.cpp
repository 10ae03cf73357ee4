// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands with the device's context current around them; the driver's calls are in stream_commands.cpp.
#include "runtime/device/stream.h"

#include "runtime/cuda/driver_status.h"

namespace tenon::runtime {

Result<std::unique_ptr<Stream>> Stream::create(const Context &context) {
  cuda::ContextScope scope = context.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(cuda::StreamHandle stream, cuda::createStream(context.driver()));
  return std::unique_ptr<Stream>(new Stream(context, std::move(stream)));
}

Stream::~Stream() {
  cuda::ContextScope scope = context_.enter();
  const cuda::StreamHandle destroyed = std::move(stream_);
}

Status Stream::upload(uint64_t address, std::span<const uint8_t> bytes) {
  if (bytes.empty())
    return okStatus();
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = context_.driver();
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuMemcpyHtoDAsync_v2(address, bytes.data(), bytes.size(), stream_.get()),
                         concat("cuMemcpyHtoDAsync_v2 of ", bytes.size(), " bytes")));
  return synchronize(); // the driver may still read pageable memory
}

Status Stream::download(uint64_t address, std::span<uint8_t> bytes) {
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = context_.driver();
  if (!bytes.empty())
    TENON_RETURN_IF_ERROR(
        cuda::driverStatus(driver, driver.cuMemcpyDtoHAsync_v2(bytes.data(), address, bytes.size(), stream_.get()),
                           concat("cuMemcpyDtoHAsync_v2 of ", bytes.size(), " bytes")));
  return synchronize();
}

Status Stream::copy(DeviceRange source, DeviceRange target) {
  if (source.bytes == 0)
    return checkCopy(source, target);
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return copyOnStream(context_.driver(), stream_.get(), source, target);
}

Status Stream::fill(DeviceRange target, uint32_t pattern, uint32_t patternBytes) {
  if (target.bytes == 0)
    return checkFill(target, patternBytes);
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return fillOnStream(context_.driver(), stream_.get(), target, pattern, patternBytes);
}

Status Stream::launch(CUfunction function, const std::array<uint32_t, 3> &grid, const abi::Launch &launch,
                      void **parameters) {
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  return launchOnStream(context_.driver(), stream_.get(), function, grid, launch, parameters);
}

Status Stream::synchronize() {
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = context_.driver();
  return cuda::driverStatus(driver, driver.cuStreamSynchronize(stream_.get()), "cuStreamSynchronize");
}

} // namespace tenon::runtime
