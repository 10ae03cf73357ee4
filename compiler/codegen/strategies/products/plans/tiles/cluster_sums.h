// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the blocks of a cluster take the sums of a product's tiles apart (contraction/kernels/divided_sums.h): where
// there are fewer tiles than multiprocessors, and their sums are long.
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/scalar_tiles.h"

namespace tenon::compiler::codegen {

/// A choice of these plans, and of no others: blocks of a cluster.
inline constexpr llvm::StringLiteral kDeep = "deep";
/// Any device with clusters runs as many blocks in one.
inline constexpr int64_t kMostDeep = 8;

/// Whether both operands' tiles may come as boxes (contraction/tile_map.h).
bool haveBoxes(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);
/// Whether kernels can be made: of a plain product, which has reduced elements or an unknown number of them, and whose
/// operands come as boxes or are copied by threads. Each block of a cluster has a step.
bool mayShareInCluster(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);
/// Of how many blocks at most a cluster makes sense: each has some steps and a multiprocessor; 1: of none.
int64_t mostDeep(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);

/// What a device takes for tiles that so many blocks have each (1: whole ones), in microseconds, of known sizes.
double timeInClusters(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep);
/// The same where both operands are matrices and rows are more than the smallest tile has: what is read is known better
/// (microsecondsOfReads).
double timeOfKnown(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep);
/// What clusters may take where whole tiles, or those with the last ones in parts, are the others: less is gained than
/// what the model may be wrong by.
double mostOfClusters(const GroupShape &shape, const Product &product, const WarpgroupTile &whole, double shared);

/// Whether the clusters of all tiles run at once, where sizes are known.
bool areAtOnce(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep);

struct DividedTile {
  const WarpgroupTile *tile;
  int64_t deep;
};
/// With what a product is done first; nothing where that is neither before whole tiles nor before `shared`
/// microseconds, or where code is made for other targets, too.
std::optional<DividedTile> bestClusterSums(const KernelFunction &kernel, const GroupShape &shape,
                                           const Product &product, const WarpgroupTile &whole, double shared);

/// The same of f32 and f64 without warpgroups: whether such a tile's sums fit a block's memory, blocks of a cluster at
/// most (1: of none), and the tile with which a product is done first.
bool canDivide(const GroupShape &shape, const Product &product, const ScalarTile &tile);
int64_t mostDeep(const GroupShape &shape, const Product &product, const ScalarTile &tile);
double timeInClusters(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep);
bool areAtOnce(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep);
struct ScalarSums {
  const ScalarTile *tile;
  int64_t deep; // 1: whole tiles
};
ScalarSums bestScalarSums(const KernelFunction &kernel, const GroupShape &shape, const Product &product);

} // namespace tenon::compiler::codegen
