// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which programs of a CUDA toolkit would be used: for --version.
#pragma once

#include <string>

namespace tenon::linker {

/// A line for each of nvcc, ptxas and nvdisasm: its release and where it is, or that there is none.
std::string toolkitVersions();

} // namespace tenon::linker
