// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream: commands run one after another on the device. Every submission is checked by its caller (program.cpp);
// lengths and offsets are bytes. Submitting returns at once and errors of the work itself come from synchronize().
#pragma once

#include "abi/layout.h"
#include "runtime/cuda/handles.h"
#include "runtime/device/stream_commands.h"
#include "runtime/memory/buffer.h"
#include "support/status.h"

#include <array>
#include <span>

namespace tenon::runtime {

class Device;

class Queue {
public:
  Queue(Device &device, cuda::Stream stream) : device_(device), stream_(std::move(stream)) {}

  CUstream handle() const { return stream_.get(); }

  /// Copies to the device; returns when `bytes` may be changed again. OutOfRange: past the buffer's end.
  Status upload(Buffer &target, uint64_t offset, std::span<const uint8_t> bytes);
  /// Waits for everything submitted, then copies back. OutOfRange: past the buffer's end.
  Status download(const Buffer &source, uint64_t offset, std::span<uint8_t> bytes);

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
  Device &device_;
  cuda::Stream stream_;
};

} // namespace tenon::runtime
