// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/contraction_plans.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/cluster_sums.h"
#include "compiler/codegen/strategies/products/plans/fitted_tiles.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/codegen/strategies/products/plans/size_ranges.h"
#include "compiler/codegen/strategies/products/plans/turns.h"
#include "compiler/codegen/strategies/products/plans/unknown_sizes.h"
#include "compiler/codegen/strategies/products/plans/warp_plans.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;

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
    if (isOfWarpTiles(asGiven, *device))
      chooseStages(plan, shape, asGiven, *device);
    return plan;
  }
  const bool isForHopper = function->hasAttr(dispatch::kHopperOnlyAttr);
  const Product product = asGiven.forWarpgroups();
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
  plan.dynamicSharedBytes = warpgroupSharedBytes(tile->rows, tile->columns);
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
  }
  const std::optional<SharedSums> shared = bestSharedSums(kernel, shape, product, *known);
  const double ofShared = shared ? shared->microseconds : HUGE_VAL;
  std::optional<ClusterSums> sums = bestClusterSums(kernel, shape, product, *known, ofShared);
  if (const std::optional<ClusterSums> tall = bestTallTile(kernel, shape, product, *known, ofShared, sums))
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
  if (!shared)
    return {whole};
  const GivenWarpgroups given{*shared->tile};
  return sharingPlans(planOf(name, kernel, shape, asGiven, side, columns, given), kernel, shape, product,
                      shared->parts);
}

/// A kernel for each range of the size of a side, rows or columns: up to so many of each but the last, which has the
/// rest.
std::vector<Plan> bySize(std::vector<Plan> plans, ArrayRef<int64_t> most, const GroupShape &shape,
                         ArrayRef<unsigned> side) {
  SmallVector<SpaceAxis> axes;
  for (unsigned axis : side)
    axes.push_back(shape.axes[axis]);
  for (auto [number, plan] : llvm::enumerate(plans)) {
    Guard guard{extentsOf(axes)};
    guard.above = number == 0 ? 0 : most[number - 1];
    guard.orEmpty = number == 0;
    if (number < most.size())
      guard.most = most[number];
    plan.guards = {guard};
  }
  return plans;
}

// Rows of an expert, on average. Each tile of rows reads its expert's matrix from memory, and of few rows that takes
// longer than the products: tiles are as high as most experts have rows. (Experts that are drawn alike have 48 +- 7,
// 104 +- 10 and 200 +- 14 of them.) Of more than that, several tiles are full anyway, and tiles of 256 columns are
// faster.
constexpr int64_t kManyRows = 48, kLeastOfTall = 104, kMostOfTall = 200;
constexpr int64_t kManyByThreads = 96; // without tensor cores

/// Tiles as high as the rows that experts have on average; where nobody knows, a kernel for each height.
std::vector<Plan> routedPlans(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                              const Product &product) {
  const bool isWide = product.sum.sum.type.getIntOrFloatBitWidth() > 32;
  auto planWith = [&](int64_t side) {
    const bool isTall = side == kTallTile;
    side = std::min(side, kLargeTile); // of other targets
    const GivenWarpgroups given{WarpgroupTile{kTallTile, kLargeTile, 0}};
    return planOf(name, kernel, shape, product, side, !product.warpElement() ? side : kSmallTile,
                  isTall ? std::optional(given) : std::nullopt);
  };
  const std::optional<int64_t> rows = shape.sizeOf(product.rows);
  SmallVector<int64_t> heights = {kSmallTile, kLargeTile}, most = {kManyByThreads * product.experts - 1};
  if (product.warpElement()) {
    heights = {kSmallTile, kLargeTile, kTallTile, kLargeTile};
    most = {kManyRows * product.experts - 1, kLeastOfTall * product.experts - 1, kMostOfTall * product.experts};
  }
  if (isWide)
    return {planWith(kSmallTile)};
  if (rows)
    return {planWith(heights[llvm::count_if(most, [&](int64_t each) { return each < *rows; })])};
  std::vector<Plan> plans;
  for (int64_t height : heights)
    plans.push_back(planWith(height));
  return bySize(std::move(plans), most, shape, product.rows);
}

/// Of an unknown number of rows, where tiles compute the other side from weights of few bits: kernels for few rows and
/// for more.
std::vector<Plan> plansOfComputedTiles(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                       const Product &product) {
  auto planWith = [&](int64_t rows) {
    const GivenWarpgroups given{WarpgroupTile{rows, kLargeTile, 0}};
    return planOf(name, kernel, shape, product, kSmallTile, kSmallTile, given);
  };
  return bySize({planWith(kSmallTile), planWith(kTallTile)}, {kSmallTile}, shape, product.rows);
}

/// Of an unknown number of images, without tensor cores.
std::vector<Plan> scalarPlansOfUnknown(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                       const Product &product) {
  std::vector<Plan> plans;
  SmallVector<int64_t> most;
  for (const SizeRange &range : scalarRangesOf(shape, product)) {
    plans.push_back(planOf(name, kernel, shape, product, range.rows, range.columns));
    if (range.most)
      most.push_back(*range.most);
  }
  return plans.size() == 1 ? plans : bySize(std::move(plans), most, shape, product.rows);
}

/// Of a side of unknown size, a kernel for each range of it. Hopper's blocks take tile after tile, however many of them
/// are launched: enough for each of its multiprocessors.
std::vector<Plan> plansOfUnknown(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                 const Product &product, ArrayRef<unsigned> side) {
  std::vector<Plan> plans;
  SmallVector<int64_t> most;
  for (const SizeRange &range : sizeRangesOf(shape, product, side)) {
    Product ofRange = product;
    ofRange.imagesOfPatch = range.images;
    GivenWarpgroups given;
    if (range.rows != 0)
      given.tile = WarpgroupTile{range.rows, range.columns, 0};
    Plan next = planOf(name, kernel, shape, ofRange, kSmallTile, kSmallTile, given);
    if (!plans.empty() && plans.back().choices == next.choices) {
      most.pop_back();
      plans.pop_back();
    }
    plans.push_back(std::move(next));
    if (range.most)
      most.push_back(*range.most);
  }
  return plans.size() == 1 ? plans : bySize(std::move(plans), most, shape, side);
}

/// What has to hold, of sizes that are not known, for rows of both operands to be multiples of 16 bytes; nothing where
/// some are known not to be, and lines of theirs are shifted.
std::optional<SmallVector<Guard>> whereRowsAreAligned(const GroupShape &shape, const Product &product) {
  constexpr int64_t kVectorBits = 128;
  SmallVector<Guard> guards;
  for (const Operand *operand : {&product.left, &product.right}) {
    const int64_t multiple = kVectorBits / operand->value.getType().getIntOrFloatBitWidth();
    const SpaceAxis &axis = shape.axes[operand->vectorAxis];
    if (axis.size && *axis.size % multiple != 0 && ShiftedLines::mayBring(product))
      return std::nullopt;
    if (!axis.size)
      guards.push_back(Guard{.length = extentsOf(axis), .orEmpty = true, .multipleOf = multiple});
  }
  return guards;
}

/// Of matrices, in programs for Hopper alone. Where only the program knows whether rows are aligned, it chooses between
/// kernels that take boxes and others that shift lines: one of both would have fewer stages, and so much code that the
/// compiler of PTX gives it other registers (an H200: bf16 nt 96 x 1024 x 4096 of unknown sizes 14.8 us, and 17.9 to
/// 20.4 as one).
std::vector<Plan> plansOfUnknownSizes(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                      const Product &product) {
  std::vector<Plan> plans;
  if (product.warpElement()) {
    const Product asRead = product.forWarpgroups();
    auto add = [&](RowStarts starts, ArrayRef<Guard> guards) {
      for (const SizedKernel &each : kernelsOfUnknownSizes(shape, asRead, starts)) {
        GivenWarpgroups given{WarpgroupTile{each.rows, each.columns, 0}};
        given.deep = each.deep;
        given.starts = starts;
        plans.push_back(planOf(name, kernel, shape, product, kSmallTile, kSmallTile, given));
        plans.back().guards = each.guards;
        llvm::append_range(plans.back().guards, guards);
        if (starts != RowStarts::Any)
          plans.back().choose(kRowStarts, int64_t(starts));
      }
    };
    const std::optional<SmallVector<Guard>> aligned = whereRowsAreAligned(shape, asRead);
    if (!aligned) {
      add(RowStarts::Split, {});
    } else if (aligned->empty() || !ShiftedLines::mayBring(asRead)) {
      add(RowStarts::Any, {});
    } else {
      add(RowStarts::Aligned, *aligned);
      Guard others;
      others.unless = {aligned->begin(), aligned->end()};
      add(RowStarts::Split, others);
    }
    return plans;
  }
  for (const SizedKernel &each : kernelsOfUnknownSizes(shape, product)) {
    plans.push_back(inClusters(planOf(name, kernel, shape, product, each.rows, each.columns), each.deep));
    plans.back().guards = each.guards;
    // Tiles that have all of their rows, or columns, need not ask for each. (Of the largest that is slower where they
    // are alone: an H200, f32 nt 512 x 4096 x 4096 568 -> 634 us.)
    const int64_t side = std::max(each.rows, each.columns);
    if (each.least >= side && each.rows * each.columns < kLargeTile * kLargeTile)
      plans.back().choose(kLeast, side);
  }
  return plans;
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
  if (device && !isOfWarpTiles(*product, *device))
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
  const int64_t columns = scalarTiles(*product).front().columns;
  Plan small = planOf(name, kernel, shape, *product, kSmallTile, kSmallTile),
       large = planOf(name, kernel, shape, *product, kLargeTile, columns);
  Guard guard{extentsOf(shape.parallelAxes())};
  guard.most = kManyTiles * kLargeTile * columns;
  guard.orEmpty = true;
  small.guards = {guard};
  large.guards = {Guard{guard.length, *guard.most}};
  if (!device)
    return {small, large};
  const dispatch::WarpTile &most = dispatch::warpTiles().front();
  constexpr int64_t kRounds = 4;
  Plan largest = planOf(name, kernel, shape, *product, most.rows, most.columns);
  large.guards.front().most = kRounds * device->multiprocessors * most.rows * most.columns;
  largest.guards = {Guard{guard.length, *large.guards.front().most}};
  return {small, large, largest};
}

} // namespace tenon::compiler::codegen
