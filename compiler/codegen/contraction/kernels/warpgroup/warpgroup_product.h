// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of f16, bf16, int8 or tf32 on Hopper's tensor cores (wgmma, sm_90a). Three warpgroups, 128 threads
// each, have roles:
//
//   producer      brings the operands of steps to come into a ring of stages in shared memory: one thread asks the
//                 tensor memory accelerator for boxes (tile_map.h), or all of them copy elements where there is no map
//   two consumers multiply what is in shared memory, and write their part of the result: 64 rows of each 128 of a tile,
//                 or half of the columns of a tile of 64 rows
//
// Blocks take one tile after the other: while consumers write a result, the producer brings the next tile's operands.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kWarpgroupThreads = 3 * 128;
/// With two producers, which compute an operand (computed_tile.h).
inline constexpr uint32_t kComputingThreads = 4 * 128;
/// Reduced elements of a step.
uint32_t warpgroupDepth(mlir::Type element);
/// Columns of tiles that are fitted: multiples, of 64 rows, and of 128 and 256, whose sums have registers for fewer.
/// The sums of one of 256 rows have to fit where its stages were.
constexpr int64_t kFittedMultiple = 16, kLeastFittedColumns = 32, kMostFittedColumns = 256, kMostFittedOfTwo = 192,
                  kMostFittedOfFour = 144;
/// Of 256 rows, whichever way the right operand lies, where no cluster has to add the sums. (Of 128 rows f16 and bf16
/// have as many as of 64.)
constexpr int64_t kMostOfRounds = 160;
/// The same where the right operand lies across.
constexpr int64_t kLeastFittedAcross = 64, kMostFittedAcross = 128;
/// Tiles that it computes: 256 rows and 128 columns; 128 rows and 64, 128, 192 or 256 columns; 64 rows and 128 or 256
/// columns, or 64 or 192 where the right side lies along the reduced elements. Of f16, bf16 and f8 that lies along
/// them, those that are fitted, too; of f16 and bf16 that lies across, of 128 and 256 rows, from 64 columns on, of 256
/// at most 160.
bool isWarpgroupTile(int64_t rows, int64_t columns, const Operand &right);
/// Whether operands that have no maps are copied in any order and from any place without being turned: f16 and bf16,
/// and what lies as the instructions read it (shifted_lines.h).
bool mayCopyRows(const Product &product);
/// Whether a tile's memory has place for what lies beside lines that are shifted, and enough stages then.
bool mayShiftLines(uint32_t rows, uint32_t columns);
/// Dynamic shared memory that it takes.
uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns);
void writeWarpgroupProduct(ProductKernel kernel);

} // namespace tenon::compiler::codegen
