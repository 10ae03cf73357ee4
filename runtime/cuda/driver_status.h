// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the driver's result codes to Status. A message holds the call, the code's name and number, and the driver's own
// sentence: "cuMemAlloc_v2(1048576): CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
#pragma once

#include "runtime/cuda/driver_table.h"
#include "support/status.h"

#include <string_view>

namespace tenon::runtime::cuda {

/// The code a CUDA error becomes: out of memory is ResourceExhausted, no device is Unavailable, a bad image or argument
/// FailedPrecondition, everything that a kernel did wrong Aborted.
StatusCode statusCodeOf(CUresult result);

/// Success stays success. `call` is the function with the arguments worth knowing: "cuMemAlloc_v2(1048576)".
Status driverStatus(const DriverTable &driver, CUresult result, std::string_view call);

/// "CUDA_ERROR_INVALID_PTX (218)"; only the number where the driver does not know it.
std::string resultName(const DriverTable &driver, CUresult result);

} // namespace tenon::runtime::cuda
