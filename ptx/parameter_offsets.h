// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the parameters of a function lie in its parameter space.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace tenon::ptx {

/// One after another, each at its own alignment (PTX ISA, "Kernel Function Parameter Attributes").
struct ParameterOffsets {
  std::vector<uint64_t> offsets; // [function.parameters] bytes
  uint64_t bytes = 0;            // the end of the last; UINT64_MAX where sizes overflow
};
ParameterOffsets parameterOffsets(const Function &function);

} // namespace tenon::ptx
