// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills as work: checked when they are made, and run.
#pragma once

#include "emulator/driver/work/work.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::emulator {

/// Memory types, pitches and live ranges. Returns the driver's code for what is wrong with them.
CUresult validateCopy(Driver &driver, const CUDA_MEMCPY3D &copy);
CUresult validateFill(Driver &driver, const CUDA_MEMSET_NODE_PARAMS &fill);
Fault runCopy(Driver &driver, const CopyWork &work);
Fault runFill(Driver &driver, const FillWork &work);

/// A copy of `bytes` bytes in a row; unified addressing finds out what each side is.
CUDA_MEMCPY3D flatCopy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
/// Whether a side of the copy is host memory that the driver knows nothing of (neither pinned nor registered).
bool readsPageable(Driver &driver, const CUDA_MEMCPY3D &copy);
bool writesPageable(Driver &driver, const CUDA_MEMCPY3D &copy);
/// Reads the source now.
std::shared_ptr<std::vector<uint8_t>> stageSource(const CUDA_MEMCPY3D &copy);

} // namespace tenon::emulator
