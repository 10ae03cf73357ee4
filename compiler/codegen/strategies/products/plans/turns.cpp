// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/turns.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/shared_tiles.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMostSums = kLargeTile * kLargeTile; // 128 registers of a thread
// What an instruction for each result takes, where consumers have half a tile each and where they take turns: tensor
// cores read and write sums in the registers that it reads, so that nothing of it is hidden. Measured on an H200 (bf16
// 6304 and 4096 x 3072 x 768, gelu of bf16: 3.0 us of a tile of 128 x 256, 1.4 of one of half the size).
constexpr double kMicrosecondsOfInstruction = 1 / 200e3;
// Of 64 rows and 64 columns, a step. Tiles of 64 rows bring more for each product.
constexpr double kMicrosecondsOfProducts = 0.705 / 8, kOfLowTiles = 1.03;
// Of a tile, where consumers take turns, and what one of 128 x 256 takes beside kMicrosecondsOfTile where they do not:
// nobody multiplies while the last products are waited for, results are computed, and the next operands arrive.
constexpr double kMicrosecondsOfTurn = 0.35, kMicrosecondsOfWaiting = 0.8;
constexpr int64_t kWaitingTile = 128 * 256;
// Tiles of fewer columns are read from shared memory more often than tensor cores wait for.
constexpr int64_t kLeastColumns = 128;
// Less is gained by it than what the model may be wrong by.
constexpr double kLeastGain = 0.03;
// Instructions for a result. Of fewer it was not measured; of more, as of an `erf` of f32, two consumers that compute
// side by side are faster (6272 x 3072 x 768: 69.9 us, in turn 73.5).
constexpr uint32_t kLeastWork = 8, kMostWork = 28;

/// As counted in code for sm_90a.
uint32_t instructionsOf(Operation &op) {
  const bool isNarrow = op.getNumResults() != 0 && op.getResultTypes().front().isBF16();
  if (isa<arith::DivFOp>(op))
    return isNarrow ? 9 : 16;
  if (isa<math::ExpOp, math::Exp2Op>(op))
    return 10;
  if (isNarrow && isa<math::ErfOp>(op))
    return 10;
  if (isNarrow && isa<math::TanhOp>(op))
    return 14;
  return isa<math::MathDialect>(op.getDialect()) && !isa<math::AbsFOp>(op) ? 30 : 1;
}

/// Instructions for each result, the product's own left out.
uint32_t workBehind(const KernelFunction &kernel, const Product &product) {
  uint32_t work = 0;
  for (const KernelOp &op : kernel.ops)
    if (&op != product.op)
      for (Operation &inner : linalg::GenericOp(op.op).getBody()->without_terminator())
        work += instructionsOf(inner);
  return work;
}

} // namespace

bool mayTakeTurns(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  return !product.routes && product.places.empty() && tile.rows <= kLargeTile &&
         tile.rows * tile.columns <= kMostSums && isWarpgroupTile(tile.rows, tile.columns, product.right) &&
         !ComputedTile::operandOf(product, shape) && !product.isReadAcross(product.left) &&
         !patchesOfRows(shape, product, tile.rows) &&
         !patchesOfReduced(shape, product, warpgroupDepth(product.left.value.getType())) &&
         shape.sizeOf(product.reduced) != 0 && haveBoxes(shape, product, tile);
}

const WarpgroupTile *bestTurns(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                               const WarpgroupTile &whole, double microseconds) {
  const uint32_t work = workBehind(kernel, product);
  const std::optional<int64_t> wholeTiles = warpgroupTilesOf(shape, product, whole);
  if (work < kLeastWork || work > kMostWork || !wholeTiles || !product.tensorCoreElement() || product.addsSteps())
    return nullptr;
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  auto roundsOf = [&](int64_t tiles) { return double(llvm::divideCeil(uint64_t(tiles), multiprocessors)); };
  auto ofResults = [&](const WarpgroupTile &tile) {
    return double(tile.rows * tile.columns) * work * kMicrosecondsOfInstruction;
  };
  const double ofWaiting = kMicrosecondsOfWaiting * double(whole.rows * whole.columns) / double(kWaitingTile);
  double least = (1 - kLeastGain) * (microseconds + roundsOf(*wholeTiles) * (ofWaiting + ofResults(whole)));
  const WarpgroupTile *best = nullptr;
  for (const WarpgroupTile &tile : warpgroupTiles()) {
    if (tile.columns < kLeastColumns || !mayTakeTurns(shape, product, tile))
      continue;
    const double rounds = roundsOf(*warpgroupTilesOf(shape, product, tile));
    if (rounds < kConsumers) // there is no next tile
      continue;
    const double ofStep = double(tile.rows * tile.columns) / (kSmallTile * kSmallTile) * kMicrosecondsOfProducts *
                          (tile.rows == kSmallTile ? kOfLowTiles : 1);
    const double taken = rounds * (stepsOf(shape, product) * ofStep + kMicrosecondsOfTurn + ofResults(tile));
    if (taken < least)
      best = &tile, least = taken;
  }
  return best;
}

} // namespace tenon::compiler::codegen
