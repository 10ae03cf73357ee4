// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the kernels of Rows: a row by some threads, phase by phase (kernel/bodies/bodies.h). A row that is read again
// is kept in registers, and in shared memory, or read in a loop in every phase.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

void writeRows(Writer &writer);

} // namespace tenon::compiler::codegen
