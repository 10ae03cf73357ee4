// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's error codes, their names and texts.
#pragma once

#include <cuda.h>

#include <string_view>

namespace tenon::emulator {

/// "CUDA_ERROR_...", or null.
const char *errorName(CUresult code);
/// "out of memory", or null.
const char *errorText(CUresult code);
/// The error of that name or number; CUDA_SUCCESS: none.
CUresult errorOf(std::string_view text);

} // namespace tenon::emulator
