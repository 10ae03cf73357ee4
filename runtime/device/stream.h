// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream: commands run one after another on the device. Every command is checked by its caller; lengths and offsets
// are bytes. Submitting returns at once and errors of the work itself come from synchronize(). Where the context is
// current already, stream_commands.h has the same without entering it.
#pragma once

#include "runtime/device/context.h"
#include "runtime/device/stream_commands.h"

#include <array>
#include <memory>
#include <span>

namespace tenon::runtime {

class Stream {
public:
  /// Not ordered with the legacy default stream, which belongs to other libraries of the process. Errors of the driver.
  static Result<std::unique_ptr<Stream>> create(const Context &context);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  CUstream handle() const { return stream_.get(); }

  /// Copies to device memory at `address`; returns when `bytes` may be changed again.
  Status upload(uint64_t address, std::span<const uint8_t> bytes);
  /// Waits for everything submitted, then copies back.
  Status download(uint64_t address, std::span<uint8_t> bytes);

  /// Copies between ranges of equal length that do not overlap.
  Status copy(DeviceRange source, DeviceRange target);
  /// Repeats the low `patternBytes` (1, 2 or 4) of `pattern`. InvalidArgument: the range is no multiple of them.
  Status fill(DeviceRange target, uint32_t pattern, uint32_t patternBytes);
  /// Launches a kernel. `parameters` is what cuLaunchKernel calls kernelParams; read before this returns.
  /// Unimplemented: a cluster, cooperative or programmatic launch on a driver without cuLaunchKernelEx.
  Status launch(CUfunction function, const std::array<uint32_t, 3> &grid, const abi::Launch &launch, void **parameters);

  /// Waits; the status of everything submitted before.
  Status synchronize();

private:
  Stream(const Context &context, cuda::StreamHandle stream) : context_(context), stream_(std::move(stream)) {}

  const Context &context_;
  cuda::StreamHandle stream_;
};

} // namespace tenon::runtime
