// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/place_tiles.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include <array>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMultiple = kFittedMultiple, kInBox = 64;
constexpr size_t kCount =
    (kMostFittedColumns + kMostFittedAcross - 2 * kLeastFittedAcross) / kInBox * (kInBox / kMultiple - 1);

constexpr double ofLarge(int64_t columns) {
  return 0.142 + 0.00215 * double(columns);
}
constexpr double ofTall(int64_t columns) {
  return 0.17 + 0.0043 * double(columns);
}

constexpr std::array<WarpgroupTile, kCount> makeTiles() {
  std::array<WarpgroupTile, kCount> tiles{};
  size_t number = 0;
  for (int64_t columns = kLeastFittedAcross; columns <= kMostFittedColumns; columns += kMultiple)
    if (columns % kInBox != 0)
      tiles[number++] = {kLargeTile, columns, ofLarge(columns), ofLarge(columns)};
  for (int64_t columns = kLeastFittedAcross; columns <= kMostFittedAcross; columns += kMultiple)
    if (columns % kInBox != 0)
      tiles[number++] = {kTallTile, columns, ofTall(columns), ofTall(columns)};
  return tiles;
}
constexpr std::array<WarpgroupTile, kCount> kPlaceTiles = makeTiles();

// Less is gained than what the model may be wrong by.
constexpr double kLeastGain = 0.04;

} // namespace

ArrayRef<WarpgroupTile> placeTiles() {
  return kPlaceTiles;
}

bool mayHavePlaceTiles(const GroupShape &shape, const Product &product) {
  constexpr WarpgroupTile kAny{kLargeTile, kLargeTile, 0};
  return waitsForMatrix(shape, product) && *shape.sizeOf(product.batch) > 1 && product.tensorCoreElement() &&
         !product.right.isAlongReduced && haveBoxes(shape, product, kAny);
}

const WarpgroupTile *bestPlaceTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                   const WarpgroupTile &whole) {
  func::FuncOp function = kernel.function;
  if (!function->hasAttr(dispatch::kHopperOnlyAttr) || !mayHavePlaceTiles(shape, product) ||
      isSideBySide(shape, product, kSmallTile))
    return nullptr;
  const WarpgroupTile *best = nullptr;
  double least = (1 - kLeastGain) * *microsecondsWithReads(shape, product, whole);
  for (const WarpgroupTile &tile : kPlaceTiles) {
    if (tile.rows == kTallTile && *shape.sizeOf(product.rows) <= kLargeTile)
      continue;
    if (const double taken = *microsecondsWithReads(shape, product, tile); taken < least)
      best = &tile, least = taken;
  }
  return best;
}

} // namespace tenon::compiler::codegen
