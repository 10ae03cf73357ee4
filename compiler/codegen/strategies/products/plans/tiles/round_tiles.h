// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles whose columns divide a matrix so that the last round of blocks is nearly full, and products with their sides
// exchanged, where rows of a tile are columns of the result. Tiles have 128 or 256 rows, but columns in multiples of
// 16: of a few hundred rows and a large matrix it is the rows that should be divided finely.
//
//   300 rows, 28672 columns   128 x 256: 3 x 112 tiles, three rounds of which the last is half empty; 84 rows are none
//                             128 x 224: 3 x 128 tiles, three rounds
//                             exchanged, 256 x 160: 112 x 2 tiles, two rounds; 20 are none
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

struct RoundTile {
  const WarpgroupTile *tile;
  bool isExchanged;
};

/// All tiles of a product of f16 or bf16, with such a result, of known sizes, that are the narrowest of their height
/// for a number of rounds.
llvm::SmallVector<RoundTile> roundTilesOf(const KernelFunction &kernel, const GroupShape &shape,
                                          const Product &asGiven);

/// The one of them that is done first, where that is before `microseconds`. Nothing: none is. Of pairs, which read
/// rows that are no whole lines faster, nothing is known here: not for products that have them.
std::optional<RoundTile> bestRoundTile(const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven,
                                       double microseconds);

} // namespace tenon::compiler::codegen
