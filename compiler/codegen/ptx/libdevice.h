// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libdevice.10.bc: NVIDIA's math library as LLVM bitcode. It ships with every CUDA toolkit and with the Python wheels
// of the CUDA compiler, never with Tenon. A kernel that calls one of its functions (`__nv_expf`) gets it linked in
// before optimisation; a kernel that calls none is compiled without looking for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler::codegen {

/// Files that may be libdevice, best first: under `cudaPath` alone where it is given; else under $CUDA_HOME,
/// $CUDA_PATH, beside the nvcc on PATH, /usr/local/cuda, and Debian's places.
std::vector<std::string> libdeviceCandidates(const std::string &cudaPath);

/// The first candidate that is a file; nothing where none is.
std::optional<std::string> findLibdevice(const std::vector<std::string> &candidates);

} // namespace tenon::compiler::codegen
