// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/contraction.h"

#include "compiler/codegen/contraction/kernels/double_product.h"
#include "compiler/codegen/contraction/kernels/scalar_product.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/kernels/tensor_core_product.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/contraction_plans.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/codegen/strategies/products/plans/tiles/fitted_tiles.h"
#include "compiler/codegen/strategies/products/plans/tiles/place_tiles.h"
#include "compiler/codegen/strategies/products/plans/tiles/round_tiles.h"
#include "compiler/codegen/strategies/products/plans/turns.h"
#include "compiler/codegen/strategies/products/plans/warp_plans.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

using namespace mlir;

namespace tenon::compiler::codegen {
std::vector<Plan> Contraction::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  return contractionPlans(name(), kernel, shape);
}

std::optional<Plan> Contraction::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  if (all.empty())
    return std::nullopt;
  if (all.front().choice(kDeep) > 1 && all.front().choice("warpgroup_rows") == 0)
    all.front().grid.pop_back(); // inClusters
  llvm::erase_if(all.front().choices, [](const auto &choice) {
    return llvm::is_contained({StringRef(kParts), StringRef(kClearsFlags), StringRef(kDeep), StringRef(kTurns),
                               StringRef(kStages), StringRef(kStageBytes), StringRef(kExchanged)},
                              StringRef(choice.first));
  });
  return all.front();
}

std::vector<TileChoice> Contraction::choices(const KernelFunction &kernel, const GroupShape &shape,
                                             const abi::TargetArch &target) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || product->routes || shape.gatesAxis || !dispatch::contractionOf(product->op->op))
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
      if (!hasMaps && !mayCopyRows(read))
        continue;
      choices.push_back({kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
      const TileChoice alone = choices.back();
      for (int64_t parts = 2; parts <= kMostParts; ++parts)
        if (mayShareSums(shape, read, tile, parts)) {
          choices.push_back(alone);
          choices.back().numbers.emplace_back(kParts.str(), parts);
        }
      for (int64_t deep = 2, most = mostDeep(shape, read, tile); deep <= most; ++deep) {
        choices.push_back(alone);
        choices.back().numbers.emplace_back(kDeep.str(), deep);
      }
      const bool mayBePairs = hasMaps && rightIn(kPair) && hasPairs(shape, read, tile);
      if (mayBePairs) {
        choices.push_back(alone);
        choices.back().numbers.emplace_back("blocks", kPair);
      }
      if (mayTakeTurns(shape, read, tile))
        for (uint32_t blocks = 1; blocks <= (mayBePairs ? kPair : 1); ++blocks) {
          choices.push_back(alone);
          if (blocks > 1)
            choices.back().numbers.emplace_back("blocks", blocks);
          choices.back().numbers.emplace_back(kTurns.str(), kConsumers);
        }
      const std::optional<int64_t> columns = shape.sizeOf(read.columns);
      if (hasMaps && columns && isSideBySide(shape, read, tile.rows))
        for (uint32_t blocks : {kPair, kQuad})
          if (leftIn(blocks) && *columns >= tile.columns * blocks)
            choices.push_back(
                {kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}, {"blocks", blocks}}});
    }
  if (multiplier == Multiplier::Warpgroup)
    for (const WarpgroupTile &tile : fittedTiles()) {
      const TileChoice alone{kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}}};
      if (isFitted(shape, read, tile) && haveBoxes(shape, read, tile) && !llvm::is_contained(choices, alone)) {
        choices.push_back(alone);
        if (isSideBySide(shape, read, tile.rows))
          for (uint32_t blocks : {kPair, kQuad}) {
            choices.push_back(alone);
            choices.back().numbers.emplace_back("blocks", blocks);
          }
      }
      for (int64_t deep = 2, most = mostDeep(shape, read, tile); deep <= most; ++deep) {
        TileChoice divided = alone;
        divided.numbers.emplace_back(kDeep.str(), deep);
        if (isFitted(shape, read, tile, deep) && !llvm::is_contained(choices, divided))
          choices.push_back(divided);
      }
    }
  if (multiplier == Multiplier::Warpgroup)
    for (const RoundTile &tile : roundTilesOf(kernel, shape, *product)) {
      TileChoice choice{kByWarpgroups.str(), {{"rows", tile.tile->rows}, {"columns", tile.tile->columns}}};
      if (tile.isExchanged)
        choice.numbers.emplace_back(kExchanged.str(), 1);
      if (!llvm::is_contained(choices, choice))
        choices.push_back(choice);
    }
  if (multiplier == Multiplier::Warpgroup && mayHavePlaceTiles(shape, read))
    for (const WarpgroupTile &tile : placeTiles())
      choices.push_back({kByWarpgroups.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
  const StringRef by = multiplier == Multiplier::Scalar ? kByThreads : kByWarps;
  func::FuncOp function = kernel.function;
  const bool isKnown = shape.sizeOf(product->rows) && shape.sizeOf(product->columns) && shape.sizeOf(product->batch);
  const ArrayRef<ScalarTile> few = isKnown ? tilesOfFewThreads(*product) : ArrayRef<ScalarTile>();
  if (const std::optional<dispatch::WarpDevice> device = dispatch::WarpDevice::of(function);
      device && hasWarpPlan(*product, *device)) {
    for (const dispatch::WarpTile &tile : dispatch::warpTiles())
      choices.push_back({by.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
    return choices;
  }
  for (const ScalarTile &tile : llvm::concat<const ScalarTile>(scalarTiles(*product), few)) {
    choices.push_back({by.str(), {{"rows", tile.rows}, {"columns", tile.columns}}});
    if (tile.threads != 0)
      choices.back().numbers.emplace_back("threads", tile.threads);
    const TileChoice whole = choices.back();
    // Who else launches these kernels may have no clusters.
    const int64_t most = function->hasAttr(dispatch::kHopperOnlyAttr) ? mostDeep(shape, *product, tile) : 1;
    for (int64_t deep = 2; deep <= most; ++deep) {
      choices.push_back(whole);
      choices.back().numbers.emplace_back(kDeep.str(), deep);
    }
  }
  return choices;
}

std::vector<Plan> Contraction::plansWith(const KernelFunction &kernel, const GroupShape &shape,
                                         ArrayRef<GivenChoice> given) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  std::optional<GivenWarpgroups> warpgroups;
  std::optional<std::pair<int64_t, int64_t>> tile;
  int64_t deep = 1, threads = 0; // without warpgroups
  for (const auto &[target, choice] : given) {
    const int64_t rows = choice.number("rows"), columns = choice.number("columns");
    if (choice.by == kByWarpgroups) {
      warpgroups = {WarpgroupTile{rows, columns, 0},
                    uint32_t(std::max<int64_t>(1, choice.number("blocks"))),
                    std::max<int64_t>(1, choice.number(kParts)),
                    std::max<int64_t>(1, choice.number(kDeep)),
                    choice.number(kTurns) > 1,
                    choice.number(kExchanged) != 0};
      continue;
    }
    tile = {rows, columns};
    deep = std::max<int64_t>(1, choice.number(kDeep));
    threads = choice.number("threads");
    if (multiplierOf(target, *product) == Multiplier::Warpgroup)
      warpgroups.emplace();
  }
  const int64_t parts = warpgroups ? warpgroups->parts : 1;
  func::FuncOp function = kernel.function;
  // Hopper's blocks take tile after tile, however many of them are launched: enough for each of its multiprocessors.
  if (!tile && function->hasAttr(dispatch::kHopperOnlyAttr))
    tile = {kSmallTile, kSmallTile};
  if (tile) {
    Plan whole = inClusters(planOf(name(), kernel, shape, *product, tile->first, tile->second, warpgroups), deep);
    if (threads != 0)
      whole.threads = uint32_t(threads);
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
  if (multiplier != Multiplier::Warpgroup || rows == 0) {
    TileChoice choice{multiplier == Multiplier::Scalar ? kByThreads.str() : kByWarps.str(),
                      {{"rows", plan.choice("rows")}, {"columns", plan.choice("columns")}}};
    const auto isOfFew = [&](const ScalarTile &tile) {
      return tile.rows == plan.choice("rows") && tile.columns == plan.choice("columns") && tile.threads == plan.threads;
    };
    if (llvm::any_of(tilesOfFewThreads(*product), isOfFew))
      choice.numbers.emplace_back("threads", plan.threads);
    if (const int64_t deep = plan.choice(kDeep); deep > 1 && rows == 0)
      choice.numbers.emplace_back(kDeep.str(), deep);
    return choice;
  }
  TileChoice choice{kByWarpgroups.str(), {{"rows", rows}, {"columns", columns}}};
  if (const int64_t blocks = plan.choice("warpgroup_cluster"); blocks != 1)
    choice.numbers.emplace_back("blocks", blocks);
  for (llvm::StringRef taken : {kParts, kDeep, kTurns})
    if (const int64_t parts = plan.choice(taken); parts > 1)
      choice.numbers.emplace_back(taken.str(), parts);
  if (plan.choice(kExchanged) != 0)
    choice.numbers.emplace_back(kExchanged.str(), 1);
  return choice;
}

uint32_t Contraction::threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const {
  auto choice = [&](StringRef name) {
    auto value = kernel.strategy.getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  const GroupShape shape = GroupShape::of(kernel);
  const std::optional<Product> product = Product::of(kernel, shape);
  const bool isExchanged = choice(kExchanged) != 0;
  const bool isOfWarpgroups = product && multiplierOf(target, *product) == Multiplier::Warpgroup &&
                              isWarpgroupTile(choice("warpgroup_rows"), choice("warpgroup_columns"),
                                              asMultiplied(*product, isExchanged).right) &&
                              choice(kClearsFlags) == 0;
  if (!isOfWarpgroups && product && !product->isOfDoubles() && choice(kClearsFlags) == 0 &&
      multiplierOf(target, *product) != Multiplier::Scalar && kernel.threads == kProductThreads)
    return tensorCoreThreads(*product, uint32_t(choice("rows")), uint32_t(choice("columns")), target.number);
  if (!isOfWarpgroups)
    return kernel.threads;
  const Product asRead = asMultiplied(*product, isExchanged);
  const bool mayShift = choice(kRowStarts) != int64_t(RowStarts::Aligned) && ShiftedLines::mayBring(asRead) &&
                        ShiftedLines::mayBeSplit(shape, asRead) &&
                        mayShiftLines(uint32_t(choice("warpgroup_rows")), uint32_t(choice("warpgroup_columns")));
  const bool hasTwoProducers = mayShift || ComputedTile::operandOf(*product, shape);
  return hasTwoProducers ? kComputingThreads : kWarpgroupThreads;
}

unsigned Contraction::variantFor(const abi::TargetArch &target) const {
  if (target == kHopper)
    return 4;
  return target.number >= 90 ? 3 : target.number >= 80 ? 2 : target.number >= 75 ? 1 : 0;
}

bool isWrittenForAny(const KernelFunction &kernel, const abi::TargetArch &target) {
  const std::optional<Product> product = Product::of(kernel, GroupShape::of(kernel));
  if (!product || multiplierOf(target, *product) != Multiplier::Scalar)
    return false;
  auto deep = kernel.strategy.getAs<IntegerAttr>(kDeep);
  return target != kHopper || !deep || deep.getInt() <= 1;
}

bool Contraction::isWrittenForAny(func::FuncOp function, const abi::TargetArch &target) const {
  // Whoever writes the kernel reports what is wrong with it.
  ScopedDiagnosticHandler silence(function.getContext(), [](mlir::Diagnostic &) { return success(); });
  FailureOr<KernelFunction> kernel = KernelFunction::read(function);
  return succeeded(kernel) && codegen::isWrittenForAny(*kernel, target);
}

bool Contraction::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kProductThreads || value == kFewProductThreads || value == kFewestProductThreads;
  if (choice == kParts)
    return value >= 1 && value <= kMostParts;
  if (choice == kDeep)
    return value >= 1 && value <= kMostDeep;
  if (choice == kTurns)
    return value == kConsumers;
  if (choice == kExchanged)
    return value == 0 || value == 1;
  if (choice == kClearsFlags)
    return value == 0 || value == 1;
  if (choice == kRowStarts)
    return value >= int64_t(RowStarts::Any) && value <= int64_t(RowStarts::Split);
  if (choice == kImagesOfPatch)
    return value >= 1 && value <= kLargeTile;
  if (choice == kStages)
    return value >= 2 && value <= kMostStages;
  if (choice == kStageBytes)
    return value == 64 || value == 128;
  if (choice == kLeast)
    return value >= 1 && value <= kTallTile;
  if (choice == "warpgroup_cluster")
    return value == 1 || value == kPair || value == kQuad;
  if (choice == "warpgroup_rows" || choice == "warpgroup_columns")
    return value >= 0 && value <= kTallTile && value % 16 == 0;
  return value == kNarrowTile || value == kSmallTile || value == kLargeTile || value == kTallTile;
}

StringRef Contraction::whyNot(const KernelFunction &kernel) const {
  auto choice = [&](StringRef name) {
    auto given = kernel.strategy.getAs<IntegerAttr>(name);
    return given ? given.getInt() : 0;
  };
  const int64_t rows = choice("rows"), columns = choice("columns"), stages = choice(kStages);
  if (stages == 0 && choice(kStageBytes) == 0 && rows <= kLargeTile && columns <= kLargeTile)
    return {};
  const std::optional<Product> product = Product::of(kernel, GroupShape::of(kernel));
  if (!product || !product->warpElement() || product->isOfDoubles())
    return "has 'stages', and tiles of 256, of factors that warps multiply on tensor cores";
  if (!takes(kStages, stages) || !takes(kStageBytes, choice(kStageBytes)))
    return "needs 'stages', 2 or more, and 'stage_bytes', 64 or 128, for its tile";
  if (llvm::none_of(dispatch::warpTiles(),
                    [&](const dispatch::WarpTile &tile) { return tile.rows == rows && tile.columns == columns; }))
    return "has 'stages' for tiles of 64 or 128 rows and columns, of 128 x 256 and of 256 x 128";
  return {};
}

void Contraction::write(Writer &writer) const {
  if (writer.choiceOr(kClearsFlags, 0) != 0)
    return clearShareFlags(writer);
  std::optional<Product> product = Product::of(writer.kernel, writer.shape);
  product->imagesOfPatch = writer.choiceOr(kImagesOfPatch, 0);
  const Multiplier multiplier = multiplierOf(writer.target, *product);
  const int64_t rows = writer.choice("warpgroup_rows"), columns = writer.choice("warpgroup_columns");
  const Product multiplied = asMultiplied(*product, writer.choiceOr(kExchanged, 0) != 0);
  const bool isOfWarpgroups = multiplier == Multiplier::Warpgroup && isWarpgroupTile(rows, columns, multiplied.right);
  if (isOfWarpgroups)
    product = multiplied;
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
                       .target = writer.target.number,
                       .least = writer.choiceOr(kLeast, 1)};
  if (isOfWarpgroups) {
    kernel.rows = uint32_t(rows);
    kernel.columns = uint32_t(columns);
    kernel.cluster = uint32_t(writer.choice("warpgroup_cluster"));
    const WarpgroupTile tile{rows, columns, 0};
    if (mayShareInCluster(writer.shape, *product, tile))
      kernel.deep = uint32_t(writer.choiceOr(kDeep, 1));
    kernel.starts = RowStarts(writer.choiceOr(kRowStarts, int64_t(RowStarts::Any)));
    kernel.isInTurn = writer.choiceOr(kTurns, 1) > 1 && mayTakeTurns(writer.shape, *product, tile);
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
  const ScalarTile tile{int64_t(kernel.rows), int64_t(kernel.columns), 1, 0, 0};
  if (writer.target == kHopper && canDivide(writer.shape, *product, tile))
    kernel.deep = uint32_t(writer.choiceOr(kDeep, 1));
  const uint32_t ofCores = product->isOfDoubles() ? kFewProductThreads : kProductThreads;
  TensorCoreStages stages = TensorCoreStages::ofStatic(kernel.rows, kernel.columns);
  if (const int64_t count = writer.choiceOr(kStages, 0); count != 0 && takes(kStages, count))
    stages = {uint32_t(writer.choice(kStageBytes)), uint32_t(count)};
  auto write = [&] {
    const bool isScalar = multiplier == Multiplier::Scalar || writer.kernel.threads != ofCores;
    isScalar                 ? writeScalarProduct(kernel)
    : product->isOfDoubles() ? writeDoubleProduct(kernel)
                             : writeTensorCoreProduct(kernel, stages);
  };
  // Blocks are as many as there may be tiles of a routed product.
  if (product->routes)
    writer.k.when(writer.k.less(writer.k.block(), TileSpace(kernel).tiles()), write);
  else
    write();
}

} // namespace tenon::compiler::codegen
