// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of f16 or bf16 on Hopper's tensor cores (wgmma, sm_90a). Three warpgroups, 128 threads each, have
// roles:
//
//   producer      brings the operands of steps to come into a ring of stages in shared memory: one thread asks the
//                 tensor memory accelerator for boxes (tile_map.h), or all of them copy elements where there is no map
//   two consumers multiply what is in shared memory, 64 rows of the tile each, and write their part of the result
//
// Blocks take one tile after the other: while consumers write a result, the producer brings the next tile's operands.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Rows of a tile: 64 for each of two consumers.
inline constexpr uint32_t kWarpgroupTileRows = 128;
/// Reduced elements of a step: a row of 128 bytes.
inline constexpr uint32_t kWarpgroupDepth = 64;
inline constexpr uint32_t kWarpgroupThreads = 3 * 128;
/// Dynamic shared memory that it takes.
uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns);
void writeWarpgroupProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
