// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/contraction.h"

#include "compiler/codegen/contraction/computed_tile.h"
#include "compiler/codegen/contraction/kernels/scalar_product.h"
#include "compiler/codegen/contraction/kernels/tensor_core_product.h"
#include "compiler/codegen/contraction/kernels/warpgroup_product.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/contraction_tiles.h"
#include "compiler/codegen/strategies/products/shared_sums.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/tile_factors.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// Of large tiles that no tensor core multiplies: each thread has twice as many elements, and reads fewer for each.
constexpr uint32_t kFewThreads = 128;

/// What is said of a Hopper's tile: its size, or none, so that warps multiply for themselves.
struct GivenWarpgroups {
  std::optional<WarpgroupTile> tile;
  uint32_t cluster = 1;
  int64_t parts = 1; // of the tiles of the last round
};

/// @param given nothing: what is best
Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven, int64_t side,
            int64_t columns, const std::optional<GivenWarpgroups> &given = {}) {
  auto extents = [&](ArrayRef<unsigned> axes) {
    SmallVector<SpaceAxis> chosen;
    for (unsigned axis : axes)
      chosen.push_back(shape.axes[axis]);
    return extentsOf(chosen);
  };
  Plan plan{
      name,
      kThreads,
      {{"rows", side}, {"columns", columns}, {"warpgroup_rows", 0}, {"warpgroup_columns", 0}, {"warpgroup_cluster", 1}},
      // Each expert of a routed product may leave a tile that is not full.
      {{extents(asGiven.batch), 1},
       {extents(asGiven.rows), side, asGiven.experts},
       {extents(asGiven.columns), columns}}};
  if (!asGiven.warpElement() && side == kLargeTile)
    plan.threads = kFewThreads;
  if (!asGiven.warpElement())
    return plan;
  const std::optional<int64_t> launched = tilesOf(shape, asGiven, side, columns);
  const Product product = asGiven.forWarpgroups();
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
  } else if (left && right) {
    MLIRContext *context = product.left.value.getContext();
    plan.tensorMaps = {left->type(context), right->type(context)};
    if (const std::optional<TileMap> result = NarrowResult::mapOf(kernel, shape, product))
      plan.tensorMaps.push_back(result->type(context));
  } else if (!product.tensorCoreElement()) {
    return plan; // what one warpgroup turns is slower than that of mma.sync
  }
  plan.choices[2].second = tile->rows;
  plan.choices[3].second = tile->columns;
  plan.dynamicSharedBytes = warpgroupSharedBytes(tile->rows, tile->columns);
  return plan;
}

/// Of known sizes, with the sums of the last tiles shared where that is faster.
std::vector<Plan> sharedOrWhole(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                const Product &asGiven, int64_t side, int64_t columns) {
  const Plan whole = planOf(name, kernel, shape, asGiven, side, columns);
  const Product product = asGiven.forWarpgroups();
  const WarpgroupTile tile{whole.choice("warpgroup_rows"), whole.choice("warpgroup_columns"), 0};
  const auto *known = llvm::find_if(warpgroupTiles(), [&](const WarpgroupTile &each) {
    return each.rows == tile.rows && each.columns == tile.columns;
  });
  const std::optional<SharedSums> shared =
      known == warpgroupTiles().end() ? std::nullopt : bestSharedSums(kernel, shape, product, *known);
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

// Where it is not known how many rows there are (or columns, of a product that is turned around), what kernels are
// chosen for, and up to how many each is taken; the last has all others.
constexpr int64_t kAssumed[] = {512, 2048, 8192, 32768}, kMostOfAssumed[] = {512, 2048, 8192};

/// The axes of the side that has the only axis of unknown size; none: there is none, or another one.
ArrayRef<unsigned> unknownSideOf(const GroupShape &shape, const Product &product) {
  const bool areRows = !shape.sizeOf(product.rows);
  const ArrayRef<unsigned> side = areRows ? product.rows : product.columns,
                           other = areRows ? product.columns : product.rows;
  const auto unknown = llvm::count_if(side, [&](unsigned axis) { return !shape.axes[axis].size; });
  const bool isKnown = shape.sizeOf(product.batch) && shape.sizeOf(other) && shape.sizeOf(product.reduced);
  return unknown == 1 && isKnown ? side : ArrayRef<unsigned>();
}

/// The shape with as many places on the axis of unknown size as make `size` of its side.
GroupShape withSize(GroupShape shape, ArrayRef<unsigned> side, int64_t size) {
  std::optional<int64_t> *unknown = nullptr;
  for (unsigned axis : side)
    if (std::optional<int64_t> &known = shape.axes[axis].size)
      size = int64_t(llvm::divideCeil(uint64_t(size), uint64_t(std::max<int64_t>(1, *known))));
    else
      unknown = &known;
  *unknown = size;
  return shape;
}

/// Of such sizes, kernels for ranges of them, with the tiles that would be chosen if they were known. Hopper's blocks
/// take tile after tile, however many of them are launched: enough for each of its multiprocessors.
std::vector<Plan> plansOfUnknown(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                 const Product &product, ArrayRef<unsigned> side) {
  std::vector<Plan> plans;
  SmallVector<int64_t> most;
  for (auto [number, size] : llvm::enumerate(kAssumed)) {
    const GroupShape assumed = withSize(shape, side, size);
    GivenWarpgroups given;
    if (const WarpgroupTile *tile = bestWarpgroupTile(assumed, product, INT64_MAX))
      given.tile = *tile;
    Plan next = planOf(name, kernel, shape, product, kSmallTile, kSmallTile, given);
    if (!plans.empty() && plans.back().choices == next.choices) {
      most.pop_back();
      plans.pop_back();
    }
    plans.push_back(std::move(next));
    if (number < std::size(kMostOfAssumed))
      most.push_back(kMostOfAssumed[number]);
  }
  return plans.size() == 1 ? plans : bySize(std::move(plans), most, shape, side);
}

} // namespace

std::vector<Plan> Contraction::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || !dispatch::contractionOf(product->op->op))
    return {};
  if (product->routes)
    return routedPlans(name(), kernel, shape, *product);
  func::FuncOp function = kernel.function;
  if (!shape.sizeOf(product->rows) && shape.sizeOf(product->columns) && function->hasAttr(dispatch::kHopperOnlyAttr) &&
      ComputedTile::operandOf(*product, shape) == &product->right)
    return plansOfComputedTiles(name(), kernel, shape, *product);
  // Sums of eight bytes take the registers of twice as many.
  if (product->sum.sum.type.getIntOrFloatBitWidth() > 32)
    return {planOf(name(), kernel, shape, *product, kSmallTile, kSmallTile)};
  if (std::optional<int64_t> tiles = tilesOf(shape, *product, kLargeTile, kLargeTile)) {
    if (!product->warpElement()) {
      const ScalarTile &tile = bestScalarTile(shape, *product);
      return {planOf(name(), kernel, shape, *product, tile.rows, tile.columns)};
    }
    const bool isHigh =
        *tilesOf(shape, *product, kSmallTile, kSmallTile) > *tilesOf(shape, *product, kLargeTile, kSmallTile);
    if (isHigh && *tiles >= kManyTiles)
      return sharedOrWhole(name(), kernel, shape, *product, kLargeTile, kLargeTile);
    const bool isWide = isHigh && *tilesOf(shape, *product, kLargeTile, kSmallTile) >= kEnoughTiles;
    return sharedOrWhole(name(), kernel, shape, *product, isWide ? kLargeTile : kSmallTile, kSmallTile);
  }
  if (const ArrayRef<unsigned> side = unknownSideOf(shape, *product);
      !side.empty() && product->warpElement() && function->hasAttr(dispatch::kHopperOnlyAttr))
    return plansOfUnknown(name(), kernel, shape, *product, side);
  Plan small = planOf(name(), kernel, shape, *product, kSmallTile, kSmallTile),
       large = planOf(name(), kernel, shape, *product, kLargeTile, kLargeTile);
  Guard guard{extentsOf(shape.parallelAxes())};
  guard.most = kManyTiles * kLargeTile * kLargeTile;
  guard.orEmpty = true;
  small.guards = {guard};
  large.guards = {Guard{guard.length, *guard.most}};
  return {small, large};
}

std::optional<Plan> Contraction::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  if (all.empty())
    return std::nullopt;
  llvm::erase_if(all.front().choices,
                 [](const auto &choice) { return choice.first == kParts || choice.first == kClearsFlags; });
  return all.front();
}

std::vector<TileChoice> Contraction::choices(const KernelFunction &kernel, const GroupShape &shape,
                                             const abi::TargetArch &target) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || product->routes || !dispatch::contractionOf(product->op->op))
    return {};
  std::vector<TileChoice> choices;
  const Multiplier multiplier = multiplierOf(target, *product);
  const Product read = product->forWarpgroups();
  if (multiplier == Multiplier::Warpgroup)
    for (const WarpgroupTile &tile : warpgroupTiles()) {
      if (!isWarpgroupTile(tile.rows, tile.columns, read.right))
        continue;
      const uint32_t depth = warpgroupDepth(read.left.value.getType());
      auto rightIn = [&](uint32_t parts) {
        return tightMapOf(shape, read, read.right, uint32_t(tile.columns), depth, parts);
      };
      auto leftIn = [&](uint32_t parts) {
        return tightMapOf(shape, read, read.left, uint32_t(tile.rows), depth, parts);
      };
      const bool hasMaps = leftIn(1) && rightIn(1);
      if (!hasMaps && !product->tensorCoreElement())
        continue;
      choices.push_back({kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
      const TileChoice alone = choices.back();
      for (int64_t parts = 2; parts <= kMostParts; ++parts)
        if (mayShareSums(shape, read, tile, parts)) {
          choices.push_back(alone);
          choices.back().numbers.emplace_back(kParts.str(), parts);
        }
      if (hasMaps && rightIn(kPair) && hasPairs(shape, read, tile)) {
        choices.push_back(alone);
        choices.back().numbers.emplace_back("blocks", kPair);
      }
      const std::optional<int64_t> columns = shape.sizeOf(read.columns);
      if (hasMaps && columns && isSideBySide(shape, read, tile.rows))
        for (uint32_t blocks : {kPair, kQuad})
          if (leftIn(blocks) && *columns >= tile.columns * blocks)
            choices.push_back(
                {kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}, {"blocks", blocks}}});
    }
  // Sums of eight bytes take the registers of twice as many.
  const bool isWide = product->sum.sum.type.getIntOrFloatBitWidth() > 32;
  const StringRef by = multiplier == Multiplier::Scalar ? kByThreads : kByWarps;
  for (const ScalarTile &tile : scalarTiles())
    if (!isWide || tile.rows == kSmallTile)
      choices.push_back({by.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
  return choices;
}

std::vector<Plan> Contraction::plansWith(const KernelFunction &kernel, const GroupShape &shape,
                                         ArrayRef<GivenChoice> given) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  std::optional<GivenWarpgroups> warpgroups;
  std::optional<std::pair<int64_t, int64_t>> tile;
  for (const auto &[target, choice] : given) {
    const int64_t rows = choice.number("rows"), columns = choice.number("columns");
    if (choice.by == kByWarpgroups) {
      warpgroups = {WarpgroupTile{rows, columns, 0}, uint32_t(std::max<int64_t>(1, choice.number("blocks"))),
                    std::max<int64_t>(1, choice.number(kParts))};
      continue;
    }
    tile = {rows, columns};
    if (multiplierOf(target, *product) == Multiplier::Warpgroup)
      warpgroups.emplace();
  }
  const int64_t parts = warpgroups ? warpgroups->parts : 1;
  func::FuncOp function = kernel.function;
  // Hopper's blocks take tile after tile, however many of them are launched: enough for each of its multiprocessors.
  if (!tile && function->hasAttr(dispatch::kHopperOnlyAttr))
    tile = {kSmallTile, kSmallTile};
  if (tile) {
    const Plan whole = planOf(name(), kernel, shape, *product, tile->first, tile->second, warpgroups);
    return parts > 1 ? sharingPlans(whole, kernel, shape, product->forWarpgroups(), parts) : std::vector<Plan>{whole};
  }
  std::vector<Plan> plans = this->plans(kernel, shape);
  for (Plan &plan : plans) {
    Plan with = planOf(name(), kernel, shape, *product, plan.choice("rows"), plan.choice("columns"), warpgroups);
    with.guards = plan.guards;
    plan = std::move(with);
  }
  if (parts > 1) // of known sizes, which have one plan
    return sharingPlans(plans.front(), kernel, shape, product->forWarpgroups(), parts);
  return plans;
}

std::optional<TileChoice> Contraction::choiceOf(const KernelFunction &kernel, const GroupShape &shape, const Plan &plan,
                                                const abi::TargetArch &target) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  const Multiplier multiplier = multiplierOf(target, *product);
  const int64_t rows = plan.choice("warpgroup_rows"), columns = plan.choice("warpgroup_columns");
  if (plan.choice(kClearsFlags) != 0)
    return std::nullopt;
  if (multiplier != Multiplier::Warpgroup || rows == 0)
    return TileChoice{multiplier == Multiplier::Scalar ? kByThreads.str() : kByWarps.str(),
                      {{"rows", plan.choice("rows")}, {"columns", plan.choice("columns")}}};
  TileChoice choice{kByWarpgroups.str(), {{"rows", rows}, {"columns", columns}}};
  if (const int64_t blocks = plan.choice("warpgroup_cluster"); blocks != 1)
    choice.numbers.emplace_back("blocks", blocks);
  if (const int64_t parts = plan.choice(kParts); parts > 1)
    choice.numbers.emplace_back(kParts.str(), parts);
  return choice;
}

uint32_t Contraction::threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const {
  auto choice = [&](StringRef name) {
    auto value = kernel.strategy.getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  const GroupShape shape = GroupShape::of(kernel);
  const std::optional<Product> product = Product::of(kernel, shape);
  const bool isOfWarpgroups =
      product && multiplierOf(target, *product) == Multiplier::Warpgroup &&
      isWarpgroupTile(choice("warpgroup_rows"), choice("warpgroup_columns"), product->forWarpgroups().right) &&
      choice(kClearsFlags) == 0;
  if (!isOfWarpgroups)
    return kernel.threads;
  return ComputedTile::operandOf(*product, shape) ? kComputingThreads : kWarpgroupThreads;
}

unsigned Contraction::variantFor(const abi::TargetArch &target) const {
  if (target == kHopper)
    return 4;
  return target.number >= 90 ? 3 : target.number >= 80 ? 2 : target.number >= 75 ? 1 : 0;
}

bool Contraction::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kThreads || value == kFewThreads;
  if (choice == kParts)
    return value >= 1 && value <= kMostParts;
  if (choice == kClearsFlags)
    return value == 0 || value == 1;
  if (choice == "warpgroup_cluster")
    return value == 1 || value == kPair || value == kQuad;
  if (choice == "warpgroup_rows" || choice == "warpgroup_columns")
    return value == 0 || value == 192 || value == 256 || value == kSmallTile || value == kLargeTile;
  return value == kSmallTile || value == kLargeTile;
}

void Contraction::write(Writer &writer) const {
  if (writer.choiceOr(kClearsFlags, 0) != 0)
    return clearShareFlags(writer);
  std::optional<Product> product = Product::of(writer.kernel, writer.shape);
  const Multiplier multiplier = multiplierOf(writer.target, *product);
  const int64_t rows = writer.choice("warpgroup_rows"), columns = writer.choice("warpgroup_columns");
  const bool isOfWarpgroups =
      multiplier == Multiplier::Warpgroup && isWarpgroupTile(rows, columns, product->forWarpgroups().right);
  if (isOfWarpgroups)
    product = product->forWarpgroups();
  ProductKernel kernel{.kernel = writer.kernel,
                       .shape = writer.shape,
                       .product = *product,
                       .k = writer.k,
                       .space = writer.space,
                       .bodies = writer.bodies,
                       .rows = uint32_t(writer.choice("rows")),
                       .columns = uint32_t(writer.choice("columns")),
                       .depth = 0,
                       .tensorMaps = {},
                       .target = writer.target.number};
  if (isOfWarpgroups) {
    kernel.rows = uint32_t(rows);
    kernel.columns = uint32_t(columns);
    kernel.cluster = uint32_t(writer.choice("warpgroup_cluster"));
    kernel.isSideBySide = !product->routes && isSideBySide(writer.shape, *product, rows);
    // Null for the operand that is computed.
    SmallVector<Value> maps = writer.arguments.tensorMaps;
    if (const Operand *computed = ComputedTile::operandOf(*product, writer.shape); computed && !maps.empty())
      maps.insert(maps.begin() + (computed == &product->right ? 1 : 0), Value());
    if (product->routes) {
      kernel.tensorMaps = maps;
    } else if (maps.size() >= 2) {
      kernel.tensorMaps = maps;
      kernel.rowPatches = patchesOfRows(writer.shape, *product, rows);
      kernel.reducedPatches = patchesOfReduced(writer.shape, *product, warpgroupDepth(product->left.value.getType()));
    }
    shareSums(kernel, writer);
    return writeWarpgroupProduct(kernel);
  }
  auto write = [&] {
    const bool isScalar = multiplier == Multiplier::Scalar || writer.kernel.threads != kThreads;
    isScalar ? writeScalarProduct(kernel) : writeTensorCoreProduct(kernel);
  };
  // Blocks are as many as there may be tiles of a routed product.
  if (product->routes)
    writer.k.when(writer.k.less(writer.k.block(), TileSpace(kernel).tiles()), write);
  else
    write();
}

} // namespace tenon::compiler::codegen
