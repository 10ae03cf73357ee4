// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of f64 on tensor cores, a warp at a time (mma.sync, sm_80 and later): four warps compute 2 x 2 parts of
// the tile. Its tensor cores take 32 cycles for each product of fragments, of which one warp's keep them busy; so what
// matters is that a warp has operands in registers whenever they are free.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

void writeDoubleProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
