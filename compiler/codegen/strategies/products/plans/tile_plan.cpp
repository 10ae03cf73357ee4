// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tile_plan.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/codegen/strategies/products/plans/turns.h"
#include "compiler/codegen/strategies/products/plans/warp_plans.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;

Product asMultiplied(const Product &asGiven, bool isExchanged) {
  Product product = asGiven.forWarpgroups();
  if (isExchanged)
    product.exchangeSides();
  return product;
}

Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven, int64_t side,
            int64_t columns, const std::optional<GivenWarpgroups> &given) {
  auto extents = [&](ArrayRef<unsigned> axes) {
    SmallVector<SpaceAxis> chosen;
    for (unsigned axis : axes)
      chosen.push_back(shape.axes[axis]);
    return extentsOf(chosen);
  };
  Plan plan{
      name,
      kProductThreads,
      {{"rows", side}, {"columns", columns}, {"warpgroup_rows", 0}, {"warpgroup_columns", 0}, {"warpgroup_cluster", 1}},
      // Each expert of a routed product may leave a tile that is not full.
      {{extents(asGiven.batch), 1},
       {extents(asGiven.rows), side, asGiven.experts},
       {extents(asGiven.columns), columns}}};
  if (asGiven.isOfDoubles() || (!asGiven.warpElement() && std::max(side, columns) == kLargeTile))
    plan.threads = kFewProductThreads;
  if (!asGiven.warpElement())
    return plan;
  func::FuncOp function = kernel.function;
  if (const std::optional<dispatch::WarpDevice> device = dispatch::WarpDevice::of(function)) {
    if (hasWarpPlan(asGiven, *device))
      chooseStages(plan, shape, asGiven, *device);
    return plan;
  }
  const bool isForHopper = function->hasAttr(dispatch::kHopperOnlyAttr);
  const Product product = asMultiplied(asGiven, given && given->isExchanged);
  std::optional<int64_t> launched = tilesOf(shape, asGiven, side, columns);
  if (launched && isForHopper && patchesOfRows(shape, product, side)) // a block for each tile, see below
    launched = INT64_MAX;
  const WarpgroupTile *tile = given                ? (given->tile ? &*given->tile : nullptr)
                              : product.routes     ? &routedWarpgroupTile(shape, product, side)
                              : launched           ? bestWarpgroupTile(shape, product, *launched)
                              : side == kLargeTile ? &warpgroupTileOfUnknownSizes()
                                                   : nullptr;
  if (!tile)
    return plan;
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  auto leftIn = [&](uint32_t parts) {
    return tightMapOf(shape, product, product.left, uint32_t(tile->rows), depth, parts);
  };
  auto rightIn = [&](uint32_t parts) {
    return tightMapOf(shape, product, product.right, uint32_t(tile->columns), depth, parts);
  };
  if (product.routes) {
    const std::optional<TileMap> weights = rightIn(1);
    if (!weights)
      return plan;
    plan.tensorMaps = {weights->type(product.left.value.getContext())};
    plan.choices[2].second = tile->rows;
    plan.choices[3].second = tile->columns;
    plan.dynamicSharedBytes = warpgroupSharedBytes(tile->rows, tile->columns);
    return plan;
  }
  const bool isAcross = isSideBySide(shape, product, tile->rows);
  const uint32_t cluster = given      ? given->cluster
                           : isAcross ? bestClusterAcross(shape, product, *tile)
                                      : (isPairWorthwhile(shape, product, *tile) ? kPair : 1);
  std::optional<TileMap> left = leftIn(1), right = rightIn(1);
  if (left && right && cluster != 1 && (isAcross ? leftIn(cluster) : rightIn(cluster))) {
    (isAcross ? left : right) = isAcross ? leftIn(cluster) : rightIn(cluster);
    plan.choices[4].second = cluster;
  }
  if ((left || right) && ComputedTile::operandOf(product, shape)) {
    MLIRContext *context = product.left.value.getContext();
    plan.tensorMaps = {(left ? left : right)->type(context)};
    if (const std::optional<TileMap> result = NarrowResult::mapOf(kernel, shape, product))
      plan.tensorMaps.push_back(result->type(context));
  } else if (left && right && !(given && given->starts == RowStarts::Split)) {
    MLIRContext *context = product.left.value.getContext();
    plan.tensorMaps = {left->type(context), right->type(context)};
    if (const std::optional<TileMap> result = NarrowResult::mapOf(kernel, shape, product))
      plan.tensorMaps.push_back(result->type(context));
  } else if (!mayCopyRows(product)) {
    return plan; // what one warpgroup turns is slower than that of mma.sync
  } else if (!given && ShiftedLines::mayBring(product) &&
             !mayShiftLines(uint32_t(tile->rows), uint32_t(tile->columns))) {
    return planOf(name, kernel, shape, asGiven, side, columns,
                  GivenWarpgroups{WarpgroupTile{kLargeTile, kLargeTile, 0}});
  }
  plan.choices[2].second = tile->rows;
  plan.choices[3].second = tile->columns;
  if (given && given->isExchanged)
    plan.choose(kExchanged, 1);
  plan.dynamicSharedBytes = warpgroupSharedBytes(tile->rows, columnsOfStage(product.right, uint32_t(tile->columns)));
  // Blocks take tile after tile, but of narrow ones there may be more than blocks.
  const std::optional<int64_t> blocks = tilesOf(shape, asGiven, side, columns);
  if (isForHopper && plan.choices[4].second == 1 && blocks &&
      std::min(*warpgroupTilesOf(shape, product, *tile), kMultiprocessors) > *blocks)
    plan.grid = {
        {extents(product.batch), 1}, {extents(product.rows), tile->rows}, {extents(product.columns), tile->columns}};
  if (given && given->deep > 1 && mayShareInCluster(shape, product, *tile)) {
    plan.choose(kDeep, given->deep);
    if (isForHopper) { // a cluster for each tile
      const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, *tile);
      plan.grid = {{extents(product.batch), 1},
                   {extents(product.rows), tile->rows},
                   {extents(product.columns), tile->columns},
                   {{Extent{given->deep, {}}}, 1}};
      if (tiles)
        plan.grid = {{{Extent{*tiles * given->deep, {}}}, 1}};
    }
    return plan;
  }
  if (!left || !right || (given && given->starts == RowStarts::Split))
    return plan;
  if (given && given->isInTurn && mayTakeTurns(shape, product, *tile))
    plan.choose(kTurns, kConsumers);
  if (product.imagesOfPatch != 0)
    plan.choose(kImagesOfPatch, product.imagesOfPatch);
  if (const Patches patches = patchesOfRows(shape, product, tile->rows); patches && isForHopper && cluster == 1) {
    plan.grid = {{extents(product.batch), 1}, {extents(product.columns), tile->columns}};
    for (auto [axis, side] : llvm::zip_equal(product.rows, patches.sides))
      plan.grid.push_back({extents({axis}), side});
  }
  return plan;
}

Plan inClusters(Plan plan, int64_t deep) {
  if (deep > 1) {
    plan.choose(kDeep, deep);
    plan.grid.push_back({{Extent{deep, {}}}, 1});
  }
  return plan;
}

} // namespace tenon::compiler::codegen
