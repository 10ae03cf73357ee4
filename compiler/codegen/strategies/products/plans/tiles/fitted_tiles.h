// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of 64 rows by 32 to 256 columns, of 128 by 32 to 192 or of 256 by 32 to 144, multiples of 16, for products of
// few rows and a large matrix. Each element of the matrix is read once, and memory is all that matters: the columns are
// divided so that nearly all multiprocessors have one tile each, or a part of the steps of one, and all are done at
// once.
//
//   130 x 6144 columns   64 x 192: 96 blocks             64 x 144: 129
//   64 x 4096            64 x 256 by six blocks: 96      64 x 64 by two blocks each: 128
//   64 x 5120            64 x 256 by five: 100           64 x 80 by two: 128
//   141 x 9408           128 x 192 in pairs: 98          256 x 144 by two: 132, which read the rows once
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"

namespace tenon::compiler::codegen {

/// All of them, whatever the product.
llvm::ArrayRef<WarpgroupTile> fittedTiles();
/// Whether they are the narrowest of which all run at once, where `deep` blocks of a cluster share each; of known
/// sizes, and matrices that lie in memory as they are multiplied.
bool isFitted(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep = 1);

/// Of more rows than the smallest tile has: one that is done before `whole` is. Null: none is.
const WarpgroupTile *bestFittedTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                    const WarpgroupTile &whole);

/// Of 129 to 256 rows, where rows of the matrix begin inside of a sector: a tile that has all rows and blocks that
/// share it, where that is done before `sums` are (none: before `whole` tiles and `shared`).
std::optional<DividedTile> bestTallTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                        const WarpgroupTile &whole, double shared,
                                        const std::optional<DividedTile> &sums);

/// Of no more rows than that: with what a product is done first, of all tiles, which up to eight blocks share.
struct TileOfFewRows {
  const WarpgroupTile *tile;
  int64_t deep;
  double microseconds;
};
/// Nothing: of other products, or where code is made for other targets, too.
/// @param whole that of blocks alone, which is kept where little is gained
std::optional<TileOfFewRows> bestTileOfFewRows(const KernelFunction &kernel, const GroupShape &shape,
                                               const Product &product, const WarpgroupTile &whole);
/// The same of so few rows that a kernel without tiles may compute them (strategies/products/skinny.h): whether tiles
/// are done before it is.
bool areTilesFaster(const KernelFunction &kernel, const GroupShape &shape, const Product &product);

} // namespace tenon::compiler::codegen
