// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/contraction_plans.h"

#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/strategies/products/plans/guarded_plans.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/codegen/strategies/products/plans/size_ranges.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/codegen/strategies/products/plans/tiles/fitted_tiles.h"
#include "compiler/codegen/strategies/products/plans/tiles/place_tiles.h"
#include "compiler/codegen/strategies/products/plans/tiles/round_tiles.h"
#include "compiler/codegen/strategies/products/plans/turns.h"
#include "compiler/codegen/strategies/products/plans/warp_plans.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

namespace {

/// Of known sizes, with the sums of all tiles or of the last ones taken apart where that is faster.
std::vector<Plan> sharedOrWhole(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                const Product &asGiven, int64_t side, int64_t columns) {
  Plan whole = planOf(name, kernel, shape, asGiven, side, columns);
  const Product product = asGiven.forWarpgroups();
  const WarpgroupTile tile{whole.choice("warpgroup_rows"), whole.choice("warpgroup_columns"), 0};
  const WarpgroupTile *known = nullptr;
  for (const WarpgroupTile &each : llvm::concat<const WarpgroupTile>(warpgroupTiles(), fittedTiles()))
    if (!known && each.rows == tile.rows && each.columns == tile.columns)
      known = &each;
  if (!known)
    return {whole};
  if (const std::optional<TileOfFewRows> few = bestTileOfFewRows(kernel, shape, product, *known)) {
    if (few->tile == known && few->deep == 1)
      return {whole};
    return {planOf(name, kernel, shape, asGiven, side, columns, GivenWarpgroups{*few->tile, 1, 1, few->deep})};
  }
  if (const WarpgroupTile *fitted = bestFittedTile(kernel, shape, product, *known)) {
    known = fitted;
    whole = planOf(name, kernel, shape, asGiven, side, columns, GivenWarpgroups{*fitted});
  } else if (const WarpgroupTile *ofPlaces = bestPlaceTile(kernel, shape, product, *known)) {
    known = ofPlaces;
    whole = planOf(name, kernel, shape, asGiven, side, columns, GivenWarpgroups{*ofPlaces});
  }
  const std::optional<SharedSums> shared = bestSharedSums(kernel, shape, product, *known);
  const double ofShared = shared ? shared->microseconds : HUGE_VAL;
  std::optional<DividedTile> sums = bestClusterSums(kernel, shape, product, *known, ofShared);
  if (const std::optional<DividedTile> tall = bestTallTile(kernel, shape, product, *known, ofShared, sums))
    sums = tall;
  if (sums)
    return {planOf(name, kernel, shape, asGiven, side, columns, GivenWarpgroups{*sums->tile, 1, 1, sums->deep})};
  if (const WarpgroupTile *inTurn =
          bestTurns(kernel, shape, product, shared ? *shared->tile : *known,
                    shared ? shared->microseconds : *microsecondsWithReads(shape, product, *known))) {
    GivenWarpgroups given{*inTurn};
    given.isInTurn = true;
    return {planOf(name, kernel, shape, asGiven, side, columns, given)};
  }
  const std::optional<RoundTile> ofRounds =
      whole.choice("warpgroup_cluster") > 1
          ? std::nullopt
          : bestRoundTile(kernel, shape, asGiven,
                          shared ? shared->microseconds : *microsecondsWithReads(shape, product, *known));
  if (ofRounds) {
    GivenWarpgroups given{*ofRounds->tile};
    given.isExchanged = ofRounds->isExchanged;
    return {planOf(name, kernel, shape, asGiven, side, columns, given)};
  }
  if (!shared)
    return {whole};
  const GivenWarpgroups given{*shared->tile};
  return sharingPlans(planOf(name, kernel, shape, asGiven, side, columns, given), kernel, shape, product,
                      shared->parts);
}

} // namespace

std::vector<Plan> contractionPlans(StringRef name, const KernelFunction &kernel, const GroupShape &shape) {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || !dispatch::contractionOf(product->op->op))
    return {};
  if (product->routes)
    return routedPlans(name, kernel, shape, *product);
  func::FuncOp function = kernel.function;
  if (!shape.sizeOf(product->rows) && shape.sizeOf(product->columns) && function->hasAttr(dispatch::kHopperOnlyAttr) &&
      ComputedTile::operandOf(*product, shape) == &product->right)
    return plansOfComputedTiles(name, kernel, shape, *product);
  std::optional<dispatch::WarpDevice> device = dispatch::WarpDevice::of(function); // whose tiles compute it
  if (device && !hasWarpPlan(*product, *device))
    device.reset();
  if (scalarTiles(*product).size() == 1)
    return {planOf(name, kernel, shape, *product, kSmallTile, kSmallTile)};
  if (function->hasAttr(dispatch::kHopperOnlyAttr))
    if (std::vector<Plan> plans = plansOfUnknownSizes(name, kernel, shape, *product); !plans.empty())
      return plans;
  if (std::optional<int64_t> tiles = tilesOf(shape, *product, kLargeTile, kLargeTile)) {
    if (!product->warpElement()) {
      const auto [tile, deep] = bestScalarSums(kernel, shape, *product);
      Plan plan = inClusters(planOf(name, kernel, shape, *product, tile->rows, tile->columns), deep);
      if (tile->threads != 0)
        plan.threads = tile->threads;
      return {plan};
    }
    if (device) {
      const dispatch::WarpTile &best = bestWarpTile(shape, *product, *device);
      return {planOf(name, kernel, shape, *product, best.rows, best.columns)};
    }
    const bool isHigh =
        *tilesOf(shape, *product, kSmallTile, kSmallTile) > *tilesOf(shape, *product, kLargeTile, kSmallTile);
    const std::optional<int64_t> columns = shape.sizeOf(product->columns);
    if (isHigh && *tiles >= kManyTiles && *columns > kSmallTile)
      return sharedOrWhole(name, kernel, shape, *product, kLargeTile, kLargeTile);
    const bool isWide = isHigh && *tilesOf(shape, *product, kLargeTile, kSmallTile) >= kEnoughTiles;
    return sharedOrWhole(name, kernel, shape, *product, isWide ? kLargeTile : kSmallTile, kSmallTile);
  }
  const ArrayRef<unsigned> side = unknownSideOf(shape, *product);
  if (!side.empty() && product->warpElement() && function->hasAttr(dispatch::kHopperOnlyAttr))
    return plansOfUnknown(name, kernel, shape, *product, side);
  if (side == ArrayRef(product->rows) && side.size() > 1 && !product->warpElement() && !product->isOfDoubles())
    return scalarPlansOfUnknown(name, kernel, shape, *product);
  return plansByCount(name, kernel, shape, *product, device);
}

} // namespace tenon::compiler::codegen
