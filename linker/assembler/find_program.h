// Programs of the user's CUDA toolkit.
#pragma once

#include "abi/result.h"

#include <string>

namespace tenon::linker {

/// Path of the program `name` to use: `given` where that is not empty, else the first of $CUDA_HOME/bin,
/// $CUDA_PATH/bin, PATH and /usr/local/cuda/bin that has it. NotFound lists the places tried.
Result<std::string> findCudaProgram(const std::string &name, const std::string &given);

} // namespace tenon::linker
