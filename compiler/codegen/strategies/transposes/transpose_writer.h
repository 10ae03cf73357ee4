// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of a transpose (transpose.h): a block's tile goes through shared memory, which is read in vectors along both
// of its sides, and then the group is computed along the rows of the results.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

// A thread's straight-line code for the vectors that it computes side by side.
inline constexpr uint32_t kMaxTransposeWork = 256;

/// By the plan's choices: `width` of a vector of results, and the sides of the tile, `written` and `read`.
void writeTranspose(Writer &writer);

} // namespace tenon::compiler::codegen
