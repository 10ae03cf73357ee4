// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "compiler/dispatch/splits/cluster_splits.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Until a cluster has met twice, of tiles that no warpgroup multiplies; of others: dispatch::kMicrosecondsOfMeeting.
constexpr double kMicrosecondsOfShortMeeting = 1.5;
// Bytes that all blocks together get in a microsecond, of operands that the second-level cache holds and of larger ones
// (f16 nt 77 x 4480 x 4880: 8.9e6, nn 211 x 864 x 7160: 7.5e6; bf16 tt 48 x 5312 x 7232: 5e6, tf32 nn 55 x 3640 x 5816:
// 5.9e6).
constexpr double kBytesOfCache = 8e6, kBytesOfMemory = 5.5e6, kCache = 50e6, kStepBytes = 128;
// Fewer blocks get no more each: bf16 tt 48 x 5312 x 7232 in tiles of 64 x 256, by three and by five blocks.
constexpr int64_t kBlocksOfAll = 92;
// Less is gained by it than what the model may be wrong by; of a large matrix and some rows, a cluster's own time is
// known less well (bf16 nt 130 x 4096 x 14336: whole tiles of 64 x 128 46 us, 64 x 192 by two blocks 64).
constexpr double kLeastGain = 0.08, kLeastGainOfReads = 0.12;
// A part of fewer steps is over before its operands are there.
constexpr double kLeastSteps = 4;
// Of an H100 or H200.
constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors, kNearlyAll = 104;

} // namespace

bool haveBoxes(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  return tightMapOf(shape, product, product.left, uint32_t(tile.rows), depth) &&
         tightMapOf(shape, product, product.right, uint32_t(tile.columns), depth);
}

/// Of 256 rows, sums of two parts of 64 x columns for each consumer: of matrices that lie as they are multiplied.
static bool mayShareTall(const GroupShape &shape, const Product &product) {
  const Type factor = product.right.factor;
  return (factor.isF16() || factor.isBF16()) && product.left.isAlongReduced && product.right.isAlongReduced &&
         waitsForMatrix(shape, product);
}

bool mayShareInCluster(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  return !product.routes && product.places.empty() &&
         (tile.rows <= kLargeTile || (tile.columns <= kMostFittedOfFour && mayShareTall(shape, product))) &&
         isWarpgroupTile(tile.rows, tile.columns, product.right) && shape.sizeOf(product.reduced) != 0 &&
         !ComputedTile::operandOf(product, shape) && !patchesOfRows(shape, product, tile.rows) &&
         !patchesOfReduced(shape, product, depth) && (mayCopyRows(product) || haveBoxes(shape, product, tile));
}

/// Of known sizes, what has no boxes is copied before where that takes long.
static bool mayShareBoxes(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  return warpgroupTilesOf(shape, product, tile) && shape.sizeOf(product.reduced) &&
         mayShareInCluster(shape, product, tile) && haveBoxes(shape, product, tile);
}

int64_t mostDeep(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  if (!mayShareBoxes(shape, product, tile))
    return 1;
  const int64_t tiles = std::max<int64_t>(*warpgroupTilesOf(shape, product, tile), 1),
                ofSteps = int64_t(stepsOf(shape, product) / kLeastSteps);
  return std::max<int64_t>(std::min({kMostDeep, ofSteps, kMultiprocessors / tiles}), 1);
}

double timeInClusters(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  const int64_t tiles = *warpgroupTilesOf(shape, product, tile), blocks = std::min(tiles * deep, kMultiprocessors);
  const double steps = stepsOf(shape, product),
               operands = double(*shape.sizeOf(product.batch)) * steps * kStepBytes *
                          (double(*shape.sizeOf(product.rows)) + double(*shape.sizeOf(product.columns)));
  // Boxes are no higher than the operand, and half as high where another block asks for the rest.
  const bool arePairs = deep == 1 && isPairWorthwhile(shape, product, tile);
  const double rows = double(std::min(tile.rows, *shape.sizeOf(product.rows))) +
                      double(std::min(tile.columns, *shape.sizeOf(product.columns))) * (arePairs ? 0.5 : 1);
  const double ofAll =
      rows * kStepBytes * double(std::max(blocks, kBlocksOfAll)) / (operands > kCache ? kBytesOfMemory : kBytesOfCache);
  const double ofStep = std::max(microsecondsOfStep(shape, product, tile, blocks), ofAll);
  const double ofTile = std::ceil(steps / double(deep)) * ofStep + kMicrosecondsOfTile;
  if (deep == 1)
    return double(llvm::divideCeil(uint64_t(tiles), uint64_t(kMultiprocessors))) * ofTile;
  const double read = double(tile.rows * tile.columns) * sizeof(float) * double(deep - 1) / double(deep);
  return ofTile + dispatch::kMicrosecondsOfMeeting + read * dispatch::kMicrosecondsOfClusterByte;
}

bool areAtOnce(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  return *warpgroupTilesOf(shape, product, tile) <= dispatch::clustersAtOnce(deep);
}

double timeOfKnown(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  const double ofReads = microsecondsOfReads(shape, product, tile, deep);
  if (ofReads == 0)
    return timeInClusters(shape, product, tile, deep);
  if (deep == 1)
    return *microsecondsWithReads(shape, product, tile);
  const int64_t blocks = std::min(*warpgroupTilesOf(shape, product, tile) * deep, kMultiprocessors);
  const double ofSteps =
      std::ceil(stepsOf(shape, product) / double(deep)) * microsecondsOfStep(shape, product, tile, blocks);
  const double added = double(tile.rows * tile.columns) * sizeof(float) * double(deep - 1) / double(deep);
  return std::max(ofSteps, ofReads) + kMicrosecondsOfTile + dispatch::kMicrosecondsOfMeeting +
         added * dispatch::kMicrosecondsOfClusterByte;
}

double mostOfClusters(const GroupShape &shape, const Product &product, const WarpgroupTile &whole, double shared) {
  const double gain = microsecondsOfReads(shape, product, whole) > 0 ? kLeastGainOfReads : kLeastGain;
  return (1 - gain) * std::min(timeOfKnown(shape, product, whole, 1), shared);
}

std::optional<DividedTile> bestClusterSums(const KernelFunction &kernel, const GroupShape &shape,
                                           const Product &product, const WarpgroupTile &whole, double shared) {
  func::FuncOp function = kernel.function;
  if (!function->hasAttr(dispatch::kHopperOnlyAttr) || !mayShareBoxes(shape, product, whole))
    return std::nullopt;
  // Parts of a sum (dispatch/splits/cluster_splits.h) that have a tile for nearly each multiprocessor get more bytes of
  // the caches alone than in clusters.
  const int64_t tiles = *warpgroupTilesOf(shape, product, whole);
  if (shape.sizeOf(product.batch).value_or(1) > 1 && tiles >= kNearlyAll && tiles <= kMultiprocessors)
    return std::nullopt;
  const std::optional<int64_t> columns = shape.sizeOf(product.columns);
  std::optional<DividedTile> best;
  double least = mostOfClusters(shape, product, whole, shared);
  for (const WarpgroupTile &tile : warpgroupTiles()) {
    if (tile.rows > kLargeTile || (tile.rows > kSmallTile && isSideBySide(shape, product, kSmallTile)))
      continue;
    if (*columns <= tile.columns / 2 && tile.columns > kSmallTile) // a narrower one has all of them
      continue;
    for (int64_t deep = 2, most = mostDeep(shape, product, tile); deep <= most; ++deep) {
      if (!areAtOnce(shape, product, tile, deep))
        continue;
      if (const double taken = timeOfKnown(shape, product, tile, deep); taken < least)
        best = {&tile, deep}, least = taken;
    }
  }
  return best;
}

bool canDivide(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  constexpr int64_t kMostBytes = 32 << 10;
  Type sum = product.sum.sum.type;
  return !product.warpElement() && (sum.isF32() || sum.isF64()) && !product.routes && product.places.empty() &&
         product.reduced.size() == 1 && !product.left.border && !product.right.border &&
         tile.rows * tile.columns * int64_t(sum.getIntOrFloatBitWidth() / 8) <= kMostBytes;
}

int64_t mostDeep(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  constexpr int64_t kLeastReduced = 64;
  const std::optional<int64_t> known = tilesOf(shape, product, tile.rows, tile.columns);
  if (!known || !shape.sizeOf(product.reduced) || !canDivide(shape, product, tile))
    return 1;
  const int64_t tiles = std::max<int64_t>(*known, 1);
  return std::max<int64_t>(
      std::min({kMostDeep, *shape.sizeOf(product.reduced) / kLeastReduced, kMultiprocessors * tile.resident / tiles}),
      1);
}

/// Tiles of a multiprocessor are those of the clusters that it is in: where these are more than run beside each other,
/// all have two of them.
static int64_t tilesOfEach(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep) {
  const int64_t tiles = *tilesOf(shape, product, tile.rows, tile.columns);
  return int64_t(llvm::divideCeil(uint64_t(tiles), uint64_t(dispatch::clustersAtOnce(deep))));
}

bool areAtOnce(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep) {
  return tilesOfEach(shape, product, tile, deep) <= tile.resident;
}

double timeInClusters(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep) {
  // Times of tiles are those of so many reduced elements.
  constexpr double kReduced = 4096, kMicrosecondsOfTile = 2;
  const int64_t each = tilesOfEach(shape, product, tile, deep);
  const double element = timeOfTile(shape, product, tile, each) / kReduced;
  const double taken =
      double(each) * (double(*shape.sizeOf(product.reduced)) / double(deep) * element + kMicrosecondsOfTile);
  const double bytes = double(tile.rows * tile.columns) * product.sum.sum.type.getIntOrFloatBitWidth() / 8;
  return taken + (deep > 1 ? kMicrosecondsOfShortMeeting + bytes * dispatch::kMicrosecondsOfClusterByte : 0);
}

ScalarSums bestScalarSums(const KernelFunction &kernel, const GroupShape &shape, const Product &product) {
  func::FuncOp function = kernel.function;
  ScalarSums best = {&bestScalarTile(shape, product), 1};
  if (!function->hasAttr(dispatch::kHopperOnlyAttr) || !shape.sizeOf(product.reduced))
    return best;
  double least = (1 - kLeastGain) * timeInClusters(shape, product, *best.tile, 1);
  for (const ScalarTile &tile : llvm::concat<const ScalarTile>(scalarTiles(product), tilesOfFewThreads(product)))
    for (int64_t deep = 2, most = mostDeep(shape, product, tile); deep <= most; ++deep) {
      if (!isForSize(shape, product, tile) || !areAtOnce(shape, product, tile, deep) ||
          isTooShort(shape, product, tile, deep))
        continue;
      if (const double taken = timeInClusters(shape, product, tile, deep); taken < least)
        best = {&tile, deep}, least = taken;
    }
  return best;
}

} // namespace tenon::compiler::codegen
