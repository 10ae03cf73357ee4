// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of f16 or bf16 on Hopper's tensor cores (wgmma, sm_90a): each of two warpgroups, 128 threads, computes
// 64 rows of the tile. Operands stay in shared memory, where the instruction finds them by descriptors.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Rows of a tile: 64 for each of two warpgroups.
inline constexpr uint32_t kWarpgroupTileRows = 128;
/// Dynamic shared memory that it takes.
uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns);
void writeWarpgroupProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
