// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/contraction.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/scalar_product.h"
#include "compiler/codegen/contraction/tensor_core_product.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/contraction/warpgroup_product.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// Of large tiles that no tensor core multiplies: each thread has twice as many elements, and reads fewer for each.
constexpr uint32_t kFewThreads = 128;
constexpr int64_t kLargeTile = 128, kSmallTile = 64;
// As many tiles keep a large device busy; of fewer elements smaller tiles are made. Tensor cores gain from tiles of 128
// rows with fewer.
constexpr int64_t kManyTiles = 128, kEnoughTiles = 96;

/// What multiplies.
enum class Multiplier { Scalar, TensorCore, Warpgroup };

/// The best that a target has.
Multiplier multiplierOf(const abi::TargetArch &target, const Product &product) {
  Type element = product.warpElement();
  if (!element || !hasTensorCoresFor(product, target))
    return Multiplier::Scalar;
  return target == abi::TargetArch{90, abi::ArchSuffix::A} ? Multiplier::Warpgroup : Multiplier::TensorCore;
}

int64_t ceilDiv(int64_t size, int64_t perTile) {
  return int64_t(llvm::divideCeil(uint64_t(size), uint64_t(perTile)));
}

/// How many tiles there are, where the sizes are known.
std::optional<int64_t> tilesOf(const GroupShape &shape, const Product &product, int64_t side, int64_t columns) {
  const std::optional<int64_t> batch = shape.sizeOf(product.batch), rows = shape.sizeOf(product.rows),
                               across = shape.sizeOf(product.columns);
  if (!batch || !rows || !across)
    return std::nullopt;
  return *batch * ceilDiv(*rows, side) * ceilDiv(*across, columns);
}

// A tile of Hopper's, and how long one of its multiprocessors takes for a step of 128 bytes (measured on an H200):
// small ones wait for the second-level cache, large ones for the tensor cores.
struct WarpgroupTile {
  int64_t rows, columns;
  double microseconds;
};
constexpr WarpgroupTile kWarpgroupTiles[] = {{128, 256, 0.705}, {128, 192, 0.54}, {128, 128, 0.425}, {128, 64, 0.25},
                                             {64, 256, 0.42},   {64, 192, 0.32},  {64, 128, 0.22}};
// Behind the steps of each tile, until the next one's begin.
constexpr double kMicrosecondsOfTile = 0.5;
constexpr WarpgroupTile kUnknownSizes = kWarpgroupTiles[2];

/// Of a tile, 1 where the sum's length is unknown.
double stepsOf(const GroupShape &shape, const Product &product) {
  const int64_t depth = warpgroupDepth(product.left.value.getType());
  SmallVector<int64_t> sizes;
  double reduced = 1;
  for (unsigned axis : product.reduced) {
    sizes.push_back(shape.axes[axis].size.value_or(1));
    reduced *= double(sizes.back());
  }
  const Patches patches = patchesOfReduced(shape, product, depth);
  return (patches ? double(patches.count(sizes)) : reduced) / double(depth);
}

/// Tiles of Hopper's, as tilesOf(); where its maps need patches, those cover more than the rows. `cluster` of them
/// below each other count as one.
std::optional<int64_t> warpgroupTilesOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile,
                                        int64_t cluster = 1) {
  const std::optional<int64_t> batch = shape.sizeOf(product.batch), columns = shape.sizeOf(product.columns);
  std::optional<int64_t> rows = shape.sizeOf(product.rows);
  if (!batch || !rows || !columns)
    return std::nullopt;
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  if (mapOf(shape, product, product.left, uint32_t(tile.rows), depth))
    if (const Patches patches = patchesOfRows(shape, product, tile.rows)) {
      SmallVector<int64_t> sizes;
      for (unsigned axis : product.rows)
        sizes.push_back(*shape.axes[axis].size);
      rows = patches.count(sizes);
    }
  return *batch * ceilDiv(*rows, tile.rows * cluster) * ceilDiv(*columns, tile.columns);
}

/// The tile with which Hopper is done first. A launch has `launched` blocks; tiles that would need more of them to give
/// every multiprocessor work are left out.
const WarpgroupTile *bestWarpgroupTile(const GroupShape &shape, const Product &product, int64_t launched) {
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const double steps = stepsOf(shape, product);
  const WarpgroupTile *best = nullptr;
  double least = 0;
  for (const WarpgroupTile &tile : kWarpgroupTiles) {
    const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
    if (!tiles || std::min(*tiles, int64_t(multiprocessors)) > launched ||
        !isWarpgroupTile(tile.rows, tile.columns, product.right))
      continue;
    const double rounds = double(llvm::divideCeil(uint64_t(*tiles), multiprocessors));
    const double taken = rounds * (steps * tile.microseconds + kMicrosecondsOfTile);
    if (!best || taken < least)
      best = &tile, least = taken;
  }
  return best;
}

// Blocks that share what they read of the right operand: each brings a part of it to both. Their tiles lie below each
// other. Measured on an H200: a launch of pairs takes 0.5 to 1 us more. What they read is half as much, which is worth
// 30 % where rows are no multiples of a line of the cache, so that a row of a box meets two of them, and 1 % where many
// rounds of tiles follow each other; else the second-level cache is fast enough.
constexpr uint32_t kPair = 2;
constexpr int64_t kLineBytes = 128;
constexpr double kLeastMicrosecondsOfPairs = 30;
constexpr uint64_t kLeastRoundsOfPairs = 8;

/// Whether rows of the operand begin anywhere in a line of the cache.
bool areLinesSplit(const GroupShape &shape, const Operand &operand) {
  const std::optional<int64_t> size = shape.axes[operand.vectorAxis].size;
  return size && *size * dispatch::elementBytes(operand.value.getType()) % kLineBytes != 0;
}

/// Whether pairs are done earlier than blocks that run alone.
bool isPairWorthwhile(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const std::optional<int64_t> alone = warpgroupTilesOf(shape, product, tile),
                               pairs = warpgroupTilesOf(shape, product, tile, kPair);
  if (!alone || *pairs >= *alone)
    return false;
  const uint64_t rounds = llvm::divideCeil(uint64_t(*alone), multiprocessors);
  const double taken = double(rounds) * stepsOf(shape, product) * tile.microseconds;
  const bool areLonger = llvm::divideCeil(uint64_t(*pairs), multiprocessors / kPair) > rounds;
  return !areLonger && taken >= kLeastMicrosecondsOfPairs &&
         (rounds >= kLeastRoundsOfPairs || areLinesSplit(shape, product.left) || areLinesSplit(shape, product.right));
}

// A tile without tensor cores, and how long it takes for 4096 reduced elements (f32 on an H200, microseconds): alone on
// its multiprocessor, or its share where `resident` tiles are computed there at once.
struct ScalarTile {
  int64_t rows, columns, resident;
  double shared, alone;
};
constexpr ScalarTile kScalarTiles[] = {{128, 128, 2, 355, 434}, {128, 64, 3, 192, 242}, {64, 64, 4, 138, 90}};

const ScalarTile &bestScalarTile(const GroupShape &shape, const Product &product) {
  const int64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const ScalarTile *best = nullptr;
  double least = 0;
  for (const ScalarTile &tile : kScalarTiles) {
    const int64_t tiles = *tilesOf(shape, product, tile.rows, tile.columns), inRound = multiprocessors * tile.resident;
    const int64_t each = (tiles + multiprocessors - 1) / multiprocessors;
    const double taken = tiles <= inRound ? std::max(tile.alone, double(each) * tile.shared)
                                          : double((tiles + inRound - 1) / inRound * tile.resident) * tile.shared;
    if (!best || taken < least)
      best = &tile, least = taken;
  }
  return *best;
}

Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Product &product, int64_t side,
            int64_t columns) {
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
      {{extents(product.batch), 1}, {extents(product.rows), side}, {extents(product.columns), columns}}};
  if (!product.warpElement() && side == kLargeTile)
    plan.threads = kFewThreads;
  if (!product.warpElement())
    return plan;
  const std::optional<int64_t> launched = tilesOf(shape, product, side, columns);
  const WarpgroupTile *tile = launched             ? bestWarpgroupTile(shape, product, *launched)
                              : side == kLargeTile ? &kUnknownSizes
                                                   : nullptr;
  if (!tile)
    return plan;
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  const std::optional<TileMap> left = mapOf(shape, product, product.left, uint32_t(tile->rows), depth);
  auto rightIn = [&](uint32_t parts) {
    return mapOf(shape, product, product.right, uint32_t(tile->columns), depth, parts);
  };
  std::optional<TileMap> right = rightIn(1);
  if (left && right && rightIn(kPair) && isPairWorthwhile(shape, product, *tile)) {
    right = rightIn(kPair);
    plan.choices[4].second = kPair;
  }
  if (left && right) {
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

} // namespace

std::vector<Plan> Contraction::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || !dispatch::contractionOf(product->op->op))
    return {};
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
      return {planOf(name(), kernel, shape, *product, kLargeTile, kLargeTile)};
    const bool isWide = isHigh && *tilesOf(shape, *product, kLargeTile, kSmallTile) >= kEnoughTiles;
    return {planOf(name(), kernel, shape, *product, isWide ? kLargeTile : kSmallTile, kSmallTile)};
  }
  Plan small = planOf(name(), kernel, shape, *product, kSmallTile, kSmallTile),
       large = planOf(name(), kernel, shape, *product, kLargeTile, kLargeTile);
  Guard guard{extentsOf(shape.parallelAxes())};
  guard.most = kManyTiles * kLargeTile * kLargeTile;
  guard.orEmpty = true;
  small.guard = guard;
  large.guard = Guard{guard.length, *guard.most};
  return {small, large};
}

std::optional<Plan> Contraction::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

uint32_t Contraction::threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const {
  auto choice = [&](StringRef name) {
    auto value = kernel.strategy.getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  const std::optional<Product> product = Product::of(kernel, GroupShape::of(kernel));
  const bool isOfWarpgroups = product && multiplierOf(target, *product) == Multiplier::Warpgroup &&
                              isWarpgroupTile(choice("warpgroup_rows"), choice("warpgroup_columns"), product->right);
  return isOfWarpgroups ? kWarpgroupThreads : kernel.threads;
}

unsigned Contraction::variantFor(const abi::TargetArch &target) const {
  if (target == abi::TargetArch{90, abi::ArchSuffix::A})
    return 4;
  return target.number >= 90 ? 3 : target.number >= 80 ? 2 : target.number >= 75 ? 1 : 0;
}

bool Contraction::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kThreads || value == kFewThreads;
  if (choice == "warpgroup_cluster")
    return value == 1 || value == kPair;
  if (choice == "warpgroup_rows" || choice == "warpgroup_columns")
    return value == 0 || value == 192 || value == 256 || value == kSmallTile || value == kLargeTile;
  return value == kSmallTile || value == kLargeTile;
}

void Contraction::write(Writer &writer) const {
  const std::optional<Product> product = Product::of(writer.kernel, writer.shape);
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
  const Multiplier multiplier = multiplierOf(writer.target, *product);
  const int64_t rows = writer.choice("warpgroup_rows"), columns = writer.choice("warpgroup_columns");
  if (multiplier == Multiplier::Warpgroup && isWarpgroupTile(rows, columns, product->right)) {
    kernel.rows = uint32_t(rows);
    kernel.columns = uint32_t(columns);
    kernel.cluster = uint32_t(writer.choice("warpgroup_cluster"));
    if (writer.arguments.tensorMaps.size() >= 2) {
      kernel.tensorMaps = writer.arguments.tensorMaps;
      kernel.rowPatches = patchesOfRows(writer.shape, *product, rows);
      kernel.reducedPatches = patchesOfReduced(writer.shape, *product, warpgroupDepth(product->left.value.getType()));
    }
    writeWarpgroupProduct(kernel);
  } else if (multiplier == Multiplier::Scalar || writer.kernel.threads != kThreads) {
    writeScalarProduct(kernel);
  } else {
    writeTensorCoreProduct(kernel);
  }
}

} // namespace tenon::compiler::codegen
