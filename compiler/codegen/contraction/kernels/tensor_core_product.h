// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction on tensor cores, a warp at a time (mma.sync, sm_80 and later; f16, bf16, int8, tf32): eight warps
// compute 2 x 4 parts of the tile, while the operands of the next steps are copied.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

void writeTensorCoreProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
