// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction on the cores that every type and every target has: each thread multiplies 8 x 8 or 4 x 4 elements of
// the tile, out of shared memory.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Of small tiles of f32: each thread has 8 x 8 of it.
inline constexpr uint32_t kFewestProductThreads = 64;

void writeScalarProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
