// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/guarded_plans.h"

#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/strategies/products/plans/size_ranges.h"
#include "compiler/codegen/strategies/products/plans/tiles/scalar_tiles.h"
#include "compiler/codegen/strategies/products/plans/unknown_sizes.h"

using namespace mlir;

namespace tenon::compiler::codegen {

/// A kernel for each range of the size of a side, rows or columns: up to so many of each but the last, which has the
/// rest.
static std::vector<Plan> bySize(std::vector<Plan> plans, ArrayRef<int64_t> most, const GroupShape &shape,
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
static constexpr int64_t kManyRows = 48, kLeastOfTall = 104, kMostOfTall = 200;
static constexpr int64_t kManyByThreads = 96; // without tensor cores

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

std::vector<Plan> plansOfComputedTiles(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                       const Product &product) {
  auto planWith = [&](int64_t rows) {
    const GivenWarpgroups given{WarpgroupTile{rows, kLargeTile, 0}};
    return planOf(name, kernel, shape, product, kSmallTile, kSmallTile, given);
  };
  return bySize({planWith(kSmallTile), planWith(kTallTile)}, {kSmallTile}, shape, product.rows);
}

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
static std::optional<SmallVector<Guard>> whereRowsAreAligned(const GroupShape &shape, const Product &product) {
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

std::vector<Plan> plansByCount(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                               const Product &product, const std::optional<dispatch::WarpDevice> &device) {
  constexpr int64_t kRounds = 4;
  const int64_t columns = scalarTiles(product).front().columns;
  struct Tile {
    int64_t rows, columns;
    std::optional<int64_t> most; // results
  };
  std::vector<Tile> tiles = {{kSmallTile, kSmallTile, kManyTiles * kLargeTile * columns},
                             {kLargeTile, columns, std::nullopt}};
  if (device) {
    const dispatch::WarpTile &largest = dispatch::warpTiles().front();
    tiles.back().most = kRounds * device->multiprocessors * largest.rows * largest.columns;
    if (*tiles.back().most <= *tiles.front().most) // of few multiprocessors, as sm_87 has
      tiles.pop_back();
    tiles.push_back({largest.rows, largest.columns, std::nullopt});
  }
  std::vector<Plan> plans;
  int64_t above = 0;
  for (const Tile &tile : tiles) {
    plans.push_back(planOf(name, kernel, shape, product, tile.rows, tile.columns));
    Guard guard{extentsOf(shape.parallelAxes())};
    guard.above = above;
    guard.most = tile.most;
    guard.orEmpty = above == 0;
    plans.back().guards = {guard};
    above = tile.most.value_or(0);
  }
  return plans;
}

} // namespace tenon::compiler::codegen
