// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/contraction.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/scalar_product.h"
#include "compiler/codegen/contraction/tensor_core_product.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/contraction/warpgroup_product.h"

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

/// What multiplies, the best that a target has. The numbers are variantFor's.
enum class Multiplier : unsigned { Scalar, TensorCore, Warpgroup };

Multiplier multiplierOf(const abi::TargetArch &target) {
  if (target == abi::TargetArch{90, abi::ArchSuffix::A})
    return Multiplier::Warpgroup;
  return target.number >= 80 ? Multiplier::TensorCore : Multiplier::Scalar;
}

/// How many tiles there are, where the sizes are known.
std::optional<int64_t> tilesOf(const GroupShape &shape, const Product &product, int64_t side, int64_t columns) {
  int64_t tiles = 1;
  for (auto [axes, perTile] :
       {std::pair(&product.batch, int64_t(1)), {&product.rows, side}, {&product.columns, columns}}) {
    int64_t size = 1;
    for (unsigned axis : *axes) {
      if (!shape.axes[axis].size)
        return std::nullopt;
      size *= *shape.axes[axis].size;
    }
    tiles *= int64_t(llvm::divideCeil(uint64_t(size), uint64_t(perTile)));
  }
  return tiles;
}

/// Whether Hopper had better compute tiles of 256 columns: they read less, but the last round of blocks may have fewer
/// than there are multiprocessors.
bool isBetterWide(const GroupShape &shape, const Product &product) {
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const std::optional<int64_t> large = tilesOf(shape, product, kLargeTile, kLargeTile),
                               wide = tilesOf(shape, product, kLargeTile, 2 * kLargeTile);
  return wide &&
         llvm::divideCeil(uint64_t(*wide), multiprocessors) * 2 <= llvm::divideCeil(uint64_t(*large), multiprocessors);
}

Plan planOf(StringRef name, const GroupShape &shape, const Product &product, int64_t side, int64_t columns) {
  auto extents = [&](ArrayRef<unsigned> axes) {
    SmallVector<SpaceAxis> chosen;
    for (unsigned axis : axes)
      chosen.push_back(shape.axes[axis]);
    return extentsOf(chosen);
  };
  Plan plan{name,
            kThreads,
            {{"rows", side}, {"columns", columns}, {"warpgroup_columns", columns}},
            {{extents(product.batch), 1}, {extents(product.rows), side}, {extents(product.columns), columns}}};
  if (!product.warpElement() && side == kLargeTile)
    plan.threads = kFewThreads;
  if (product.tensorCoreElement() && side == kWarpgroupTileRows) {
    int64_t &ofWarpgroups = plan.choices.back().second;
    if (columns == kLargeTile && isBetterWide(shape, product))
      ofWarpgroups = 2 * kLargeTile; // each pair of tiles by one block
    plan.dynamicSharedBytes = warpgroupSharedBytes(side, ofWarpgroups);
    const auto left = mapOf(shape, product, product.left, side, kWarpgroupDepth),
               right = mapOf(shape, product, product.right, uint32_t(ofWarpgroups), kWarpgroupDepth);
    if (left && right) {
      MLIRContext *context = product.left.value.getContext();
      plan.tensorMaps = {left->type(context), right->type(context)};
    }
  }
  return plan;
}

} // namespace

std::vector<Plan> Contraction::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Product> product = Product::of(kernel, shape);
  if (!product || !dispatch::contractionOf(product->op->op))
    return {};
  // Sums of eight bytes take the registers of twice as many.
  if (product->sum.sum.type.getIntOrFloatBitWidth() > 32)
    return {planOf(name(), shape, *product, kSmallTile, kSmallTile)};
  if (std::optional<int64_t> tiles = tilesOf(shape, *product, kLargeTile, kLargeTile)) {
    if (*tiles >= kManyTiles)
      return {planOf(name(), shape, *product, kLargeTile, kLargeTile)};
    const bool isWide = product->warpElement() && *tilesOf(shape, *product, kLargeTile, kSmallTile) >= kEnoughTiles;
    return {planOf(name(), shape, *product, isWide ? kLargeTile : kSmallTile, kSmallTile)};
  }
  Plan small = planOf(name(), shape, *product, kSmallTile, kSmallTile),
       large = planOf(name(), shape, *product, kLargeTile, kLargeTile);
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
  auto rows = kernel.strategy.getAs<IntegerAttr>("rows");
  const std::optional<Product> product = Product::of(kernel, GroupShape::of(kernel));
  const bool isOfWarpgroups = rows && rows.getInt() == kWarpgroupTileRows && product && product->tensorCoreElement() &&
                              multiplierOf(target) == Multiplier::Warpgroup;
  return isOfWarpgroups ? kWarpgroupThreads : kernel.threads;
}

unsigned Contraction::variantFor(const abi::TargetArch &target) const {
  return unsigned(multiplierOf(target));
}

bool Contraction::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kThreads || value == kFewThreads;
  return value == kSmallTile || value == kLargeTile || (choice == "warpgroup_columns" && value == 2 * kLargeTile);
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
                       .tensorMaps = {}};
  const Multiplier multiplier = multiplierOf(writer.target);
  if (!product->warpElement() || multiplier == Multiplier::Scalar || writer.kernel.threads != kThreads)
    writeScalarProduct(kernel);
  else if (multiplier == Multiplier::Warpgroup && product->tensorCoreElement() && kernel.rows == kWarpgroupTileRows) {
    kernel.columns = writer.choice("warpgroup_columns");
    if (writer.arguments.tensorMaps.size() == 2)
      kernel.tensorMaps = writer.arguments.tensorMaps;
    writeWarpgroupProduct(kernel);
  } else
    writeTensorCoreProduct(kernel);
}

} // namespace tenon::compiler::codegen
