// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/shared_sums.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// The launch that sets flags to 0, and until shares of other blocks are seen. To leave a share and to add it, for each
// byte of all of them, which blocks do at once (measured on an H200).
constexpr double kMicrosecondsOfSharing = 8, kMicrosecondsOfByte = 2 / 3.5e6;
// Less is gained by it than what the model may be wrong by.
constexpr double kLeastGain = 0.04;
// A part of fewer steps fills and empties the ring for nothing.
constexpr double kLeastSteps = 8;

/// Blocks of a round: as many as an H100 or H200 has multiprocessors.
int64_t blocksOfRound() {
  return abi::kHopperMultiprocessors;
}

int64_t sharesOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t parts) {
  return *warpgroupTilesOf(shape, product, tile) % blocksOfRound() * (parts - 1);
}

} // namespace

bool mayShareSums(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t parts) {
  const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
  const uint32_t depth = warpgroupDepth(product.left.value.getType());
  return tiles && *tiles % blocksOfRound() != 0 && *tiles % blocksOfRound() * parts <= blocksOfRound() &&
         !product.routes && product.places.empty() && tile.rows == kLargeTile && tile.columns >= kLargeTile &&
         isWarpgroupTile(tile.rows, tile.columns, product.right) && shape.sizeOf(product.reduced).value_or(0) != 0 &&
         !ComputedTile::operandOf(product, shape) && !patchesOfRows(shape, product, tile.rows) &&
         !patchesOfReduced(shape, product, depth) &&
         tightMapOf(shape, product, product.left, uint32_t(tile.rows), depth) &&
         tightMapOf(shape, product, product.right, uint32_t(tile.columns), depth);
}

std::optional<SharedSums> bestSharedSums(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                         const WarpgroupTile &whole) {
  func::FuncOp function = kernel.function;
  if (!function->hasAttr(dispatch::kHopperOnlyAttr) || whole.rows > kLargeTile ||
      isSideBySide(shape, product, kSmallTile) || isPairWorthwhile(shape, product, whole))
    return std::nullopt;
  std::optional<SharedSums> best;
  double least = (1 - kLeastGain) * *microsecondsWithReads(shape, product, whole);
  const double steps = stepsOf(shape, product);
  for (const WarpgroupTile &tile : warpgroupTiles()) {
    for (int64_t parts = 2; parts <= kMostParts && steps / double(parts) >= kLeastSteps; ++parts) {
      if (!mayShareSums(shape, product, tile, parts))
        continue;
      const int64_t rounds = *warpgroupTilesOf(shape, product, tile) / blocksOfRound();
      const double bytes = double(sharesOf(shape, product, tile, parts) * tile.rows * tile.columns) * sizeof(float);
      const int64_t items = *warpgroupTilesOf(shape, product, tile) % blocksOfRound() * parts;
      const double ofWhole = microsecondsOfStep(shape, product, tile, blocksOfRound()),
                   ofPart = microsecondsOfStep(shape, product, tile, items);
      const double ofSteps = double(rounds) * (steps * ofWhole + kMicrosecondsOfTile) + steps / double(parts) * ofPart;
      const double taken = std::max(ofSteps, microsecondsOfReads(shape, product, tile)) + kMicrosecondsOfTile +
                           kMicrosecondsOfSharing + bytes * kMicrosecondsOfByte;
      if (taken < least)
        best = {&tile, parts, taken}, least = taken;
    }
  }
  return best;
}

std::vector<Plan> sharingPlans(const Plan &whole, const KernelFunction &kernel, const GroupShape &shape,
                               const Product &product, int64_t parts) {
  Plan plan = whole;
  plan.choices.emplace_back(kParts, parts);
  plan.choices.emplace_back(kClearsFlags, 0);
  // One for each multiprocessor: they take items until there are none. Those of other targets have a tile each.
  func::FuncOp function = kernel.function;
  if (function->hasAttr(dispatch::kHopperOnlyAttr))
    plan.grid = {{{Extent{blocksOfRound(), {}}}, 1}};
  Plan clears = plan;
  clears.choices.back().second = 1;
  clears.grid.clear();
  clears.dynamicSharedBytes = 0;
  clears.tensorMaps.clear();
  const WarpgroupTile tile{plan.choice("warpgroup_rows"), plan.choice("warpgroup_columns"), 0};
  const int64_t shares = std::max<int64_t>(1, sharesOf(shape, product, tile, parts));
  Builder b(product.left.value.getContext());
  clears.scratch = {{product.sum.sum.type, {Extent{shares * tile.rows * tile.columns, {}}}},
                    {b.getI32Type(), {Extent{kTickets + shares * kConsumers, {}}}}};
  return {clears, plan};
}

void clearShareFlags(Writer &writer) {
  KernelBuilder &k = writer.k;
  const Product product = Product::of(writer.kernel, writer.shape)->forWarpgroups();
  const WarpgroupTile tile{writer.choice("warpgroup_rows"), writer.choice("warpgroup_columns"), 0};
  if (writer.kernel.scratch.empty() || !mayShareSums(writer.shape, product, tile, writer.choice(kParts)))
    return;
  Value flags = writer.arguments.pointers[writer.kernel.scratch.back().binding];
  const int64_t shares = sharesOf(writer.shape, product, tile, writer.choice(kParts));
  Value none = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(0));
  k.loop(k.thread(), k.number(kTickets + shares * kConsumers), k.number(k.threads), {}, [&](Value flag, ValueRange) {
    k.store(none, k.at(flags, k.b.getI32Type(), flag), 4);
    return SmallVector<Value>();
  });
}

void shareSums(ProductKernel &kernel, const Writer &writer) {
  const SmallVector<KernelTensor> &scratch = writer.kernel.scratch;
  const WarpgroupTile tile{kernel.rows, kernel.columns, 0};
  const int64_t parts = writer.choiceOr(kParts, 1);
  if (scratch.empty() || kernel.cluster != 1 || !mayShareSums(writer.shape, kernel.product, tile, parts))
    return;
  kernel.parts = uint32_t(parts);
  kernel.inRound = uint32_t(blocksOfRound());
  kernel.shares = writer.arguments.pointers[scratch.front().binding];
  kernel.shareFlags = writer.arguments.pointers[scratch.back().binding];
}

} // namespace tenon::compiler::codegen
