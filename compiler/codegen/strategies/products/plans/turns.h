// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the two consumers of a block have whole tiles in turn (contraction/kernels/warpgroup/warpgroup_turns.cpp):
//
//   half tiles   | multiply 0      | results 0 |  multiply 1      | results 1 |
//                | multiply 0      | results 0 |  multiply 1      | results 1 |
//   in turn      | multiply 0 | results 0 | waits | multiply 2 | results 2 |
//                             | multiply 1 | results 1 |  waits | multiply 3 | results 3 |
//
// A consumer has the sums of a tile of its own in registers, so that tiles are half as large, and each element of the
// operands is read more often. Nobody waits for a tile's last products and the next one's operands, which counts where
// sums are short, and smaller tiles may end a round better. What is computed of sums is not hidden: its instructions
// and tensor cores use the same registers.
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

/// A choice of these plans, and of no others: consumers that have tiles of their own.
inline constexpr llvm::StringLiteral kTurns = "tiles";

/// Whether kernels can be made: both operands come as boxes, and all of a tile's sums fit a consumer's registers.
bool mayTakeTurns(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);

/// The tile with which a product is done first, where that is before tiles of which consumers have a half each: these
/// are `whole`, and take `microseconds` without what is computed from their sums. Null: it is not. Of known sizes.
const WarpgroupTile *bestTurns(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                               const WarpgroupTile &whole, double microseconds);

} // namespace tenon::compiler::codegen
