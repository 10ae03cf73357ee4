// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor map encoded by the driver, from what is declared (abi/tensor_map.h) and what a dispatch brings: the
// binding's memory and the extents of the dense, row-major tensor in it. The driver wants the contiguous dimension
// first and tells nothing but "invalid value", so what can be wrong at a call is checked here and named. Encoding runs
// on the host and asks no device.
#pragma once

#include "abi/parameter_layout.h"
#include "runtime/device/stream_commands.h"
#include "support/status.h"

#include <cuda.h>
#include <span>

namespace tenon::runtime {

/// cuTensorMapEncodeTiled, of drivers from 12.0 on; null on older ones.
using TensorMapEncoder = decltype(&::cuTensorMapEncodeTiled);

/// For generated kernels, which read the tensor itself: leaves the map as it is. Devices before sm_90, where a fallback
/// stands in for a kernel with tensor maps, have none to encode.
CUresult encodeNoTensorMap(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                           const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                           CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// @param range   the binding's memory
/// @param extents [rank] of the tensor, in the order of its shape
/// @return Unimplemented: `encode` is null. InvalidArgument: an address or a row that is not aligned, an extent of 0.
///         OutOfRange: the tensor is larger than the binding. All name K-22.
Status encodeTensorMap(TensorMapEncoder encode, const abi::EncodedTensorMap &declared, DeviceRange range,
                       std::span<const uint64_t> extents, CUtensorMap &out);

} // namespace tenon::runtime
