// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line that a block holds, sorted by it: all digits, by way of shared memory.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// Writes a kernel with the choices `items`, which each thread holds, and `position`.
void writeRadixLine(AlongWriter &writer);

} // namespace tenon::compiler::codegen
