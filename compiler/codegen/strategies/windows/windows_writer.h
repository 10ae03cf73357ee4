// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes kernels of the strategy "windows": tiles of results that slide over what their windows read.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

void writeWindows(Writer &writer);
/// The same kernel in a launch of so many blocks, of a plan with the same threads and choices.
void writeWindowsIn(Writer &writer, int64_t blocks);

} // namespace tenon::compiler::codegen
