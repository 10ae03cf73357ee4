// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/scalar_tiles.h"

#include "abi/arch_table.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Those of warps on tensor cores, and of windows.
constexpr ScalarTile kWarpTiles[] = {{128, 128, 2, 355, 434}, {128, 64, 3, 192, 242}, {64, 64, 4, 138, 90}};
// (96 x 4096 x 4096 in all of them by clusters of one to eight, 512, 1024 and 2048 rows; those of fewer threads also
// 3892 x 1074 x 4962 and 301 x 515 x 16385).
constexpr ScalarTile kScalarTiles[] = {{128, 128, 2, 345, 600}, {128, 64, 3, 192, 325}, {64, 128, 3, 192, 325},
                                       {128, 32, 5, 120, 226},  {32, 128, 5, 130, 248}, {64, 64, 4, 138, 176}},
                     kTilesOfFewThreads[] = {{64, 64, 5, 122, 230, kFewProductThreads},
                                             {64, 64, 6, 115, 400, kFewestProductThreads}},
                     kDoubleTiles[] = {
                         {128, 64, 2, 155, 200}, {64, 64, 3, 80, 110}, {32, 64, 5, 60, 105}, {64, 32, 5, 60, 105}};

/// Threads store what lies along the sum element by element: of two operands, that with fewer rows of a tile should.
/// 128 x 64 and 64 x 128 of nn 2048 x 3072 x 1024: 283 and 274 us; of rows that are not aligned, 676 x 3669 x 11769,
/// 1780 and 1596.
double turnsIn(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  constexpr double kOfAligned = 0.1, kOfOthers = 0.3;
  constexpr int64_t kVector = 4;
  if (!product.sum.sum.type.isF32() || product.left.isAlongReduced == product.right.isAlongReduced)
    return 1;
  const Operand &along = product.left.isAlongReduced ? product.left : product.right;
  const std::optional<int64_t> size = shape.axes[along.vectorAxis].size;
  const double share =
      double(product.left.isAlongReduced ? tile.rows : tile.columns) / double(tile.rows + tile.columns);
  return 1 + (share - 0.5) * (size && *size % kVector != 0 ? kOfOthers : kOfAligned);
}

} // namespace

ArrayRef<ScalarTile> scalarTiles(const Product &product) {
  if (product.isOfDoubles())
    return kDoubleTiles;
  const bool isWide = product.sum.sum.type.getIntOrFloatBitWidth() > 32;
  if (isWide)
    return ArrayRef(kScalarTiles).take_back();
  const bool isPlain = product.rows.size() == 1 && !product.left.border && !product.right.border;
  return product.warpElement() || !isPlain ? ArrayRef(kWarpTiles) : ArrayRef(kScalarTiles);
}

double timeOfTile(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t each) {
  return std::max(tile.alone / double(std::max<int64_t>(each, 1)), tile.shared) * turnsIn(shape, product, tile);
}

double timeOf(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  const int64_t multiprocessors = abi::kHopperMultiprocessors;
  const int64_t tiles = *tilesOf(shape, product, tile.rows, tile.columns), inRound = multiprocessors * tile.resident;
  const int64_t each = (tiles + multiprocessors - 1) / multiprocessors;
  // Small blocks follow each other one by one.
  const double shared = tile.shared * turnsIn(shape, product, tile);
  return tiles <= inRound || tile.threads == kFewestProductThreads
             ? std::max(tile.alone, double(each) * shared)
             : double((tiles + inRound - 1) / inRound * tile.resident) * shared;
}

ArrayRef<ScalarTile> tilesOfFewThreads(const Product &product) {
  const bool isPlain = product.rows.size() == 1 && !product.left.border && !product.right.border && !product.routes &&
                       product.places.empty();
  return isPlain && !product.warpElement() && product.sum.sum.type.isF32() ? ArrayRef(kTilesOfFewThreads)
                                                                           : ArrayRef<ScalarTile>();
}

bool isForSize(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  const bool isNarrow = tile.rows == kNarrowTile || (tile.rows < tile.columns && turnsIn(shape, product, tile) >= 1);
  return (!isNarrow || *shape.sizeOf(product.rows) <= tile.rows) &&
         (tile.columns != kNarrowTile || *shape.sizeOf(product.columns) <= tile.columns);
}

bool isTooShort(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep) {
  constexpr int64_t kLeastOfFewThreads = 512;
  return tile.threads != 0 && shape.sizeOf(product.reduced).value_or(0) < kLeastOfFewThreads * deep;
}

const ScalarTile &bestScalarTile(const GroupShape &shape, const Product &product) {
  const ScalarTile *best = nullptr;
  double least = 0;
  for (const ScalarTile &tile : llvm::concat<const ScalarTile>(scalarTiles(product), tilesOfFewThreads(product))) {
    const bool isWide = tile.rows == kSmallTile && tile.columns == kLargeTile && product.sum.sum.type.isF32() &&
                        !product.left.isAlongReduced && !product.right.isAlongReduced;
    if ((!isWide && !isForSize(shape, product, tile)) || isTooShort(shape, product, tile, 1))
      continue;
    if (const double taken = timeOf(shape, product, tile); !best || taken < least)
      best = &tile, least = taken;
  }
  return *best;
}

} // namespace tenon::compiler::codegen
