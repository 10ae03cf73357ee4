// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of a stream: each is one driver call with its checks and its name in the error. The device's context is
// current (Device::enter) when they are called. Lengths are bytes; submitting returns at once.
#pragma once

#include "abi/layout.h"
#include "runtime/cuda/driver.h"
#include "support/status.h"

#include <array>
#include <cstdint>
#include <span>

namespace tenon::runtime {

/// A range of device memory: address and bytes.
struct DeviceRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// OutOfRange: a count is below `least` or above the largest of its axis (abi::kMaxGrid).
Status checkGrid(std::span<const int64_t> counts, int64_t least = 0);
Status checkGrid(const std::array<uint32_t, 3> &grid);

/// InvalidArgument: lengths differ, or the ranges overlap.
Status checkCopy(DeviceRange source, DeviceRange target);
/// InvalidArgument: the pattern is not of 1, 2 or 4 bytes, or address or length is no multiple of it.
Status checkFill(DeviceRange target, uint32_t patternBytes);

Status copyOnStream(const cuda::Driver &driver, CUstream stream, DeviceRange source, DeviceRange target);
Status fillOnStream(const cuda::Driver &driver, CUstream stream, DeviceRange target, uint32_t pattern,
                    uint32_t patternBytes);
/// `parameters` is what cuLaunchKernel calls kernelParams; read before this returns. Unimplemented: a cluster,
/// cooperative or programmatic launch on a driver without cuLaunchKernelEx.
Status launchOnStream(const cuda::Driver &driver, CUstream stream, CUfunction function,
                      const std::array<uint32_t, 3> &grid, const abi::Launch &launch, void **parameters);

} // namespace tenon::runtime
