// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of the user's CUDA toolkit.
#pragma once

#include "support/result.h"

#include <string>

namespace tenon::linker {

/// Path of the program to use: `given` where that is a path, else the first of $CUDA_HOME/bin, $CUDA_PATH/bin, PATH and
/// /usr/local/cuda/bin that has a program called `given`, or `name` where that is empty. NotFound lists the places
/// tried.
Result<std::string> findCudaProgram(const std::string &name, const std::string &given);

} // namespace tenon::linker
