// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/round_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include <array>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMultiple = kFittedMultiple, kLeastColumns = 64, kMultiprocessors = abi::kHopperMultiprocessors;
// Of more rounds, what the last one leaves idle is little.
constexpr int64_t kMostRounds = 4;
// Narrower ones were slower than predicted (bf16 tt 312 x 1816 x 2208, exchanged, 128 x 64 15.1 us instead of 13.5).
constexpr int64_t kLeastChosen = 80;
// Less is gained than what the model may be wrong by (bf16 nt 177 x 8192 x 8192, exchanged, 128 x 96: 51.2, 44.8).
constexpr double kLeastGain = 0.06;
// Of fewer steps results count, and what is exchanged was slower by up to 12 % (bf16 tn 280 x 4792 x 456 8.9 us, 10.0).
constexpr double kLeastSteps = 24;
// Bytes of all blocks in a microsecond, from the second-level cache: where an operand lies across, boxes are 64
// positions wide (f16 tn 704 x 2304 x 5632 in tiles of 128 x 112 8.2e6, 24 x 832 x 128 x 7424 of 128 x 176 6.3e6, bf16
// tn 7168 x 584 x 4000 of 256 x 160 6.9e6); where it is the left one alone, in whole lines, nearly as many as along (nn
// 150 x 8192 x 8192, exchanged, of 128 x 80 12.4e6), but not beside lines that are split (1360 x 2496 x 2120,
// exchanged, of 128 x 240 6.4e6).
constexpr double kBytesAlong = 12e6, kBytesOfLines = 10e6, kBytesAcross = 7e6, kStepBytes = 128;

constexpr double ofLarge(int64_t columns) {
  return 0.142 + 0.00215 * double(columns);
}
constexpr double ofTall(int64_t columns) {
  return 0.17 + 0.0046 * double(columns);
}

constexpr size_t countUpTo(int64_t most) {
  return size_t((most - kLeastColumns) / kMultiple + 1);
}
constexpr size_t kCount = countUpTo(kMostFittedColumns) + countUpTo(kMostOfRounds);

constexpr std::array<WarpgroupTile, kCount> makeTiles() {
  std::array<WarpgroupTile, kCount> tiles{};
  size_t number = 0;
  for (int64_t columns = kLeastColumns; columns <= kMostFittedColumns; columns += kMultiple)
    tiles[number++] = {kLargeTile, columns, ofLarge(columns), ofLarge(columns)};
  for (int64_t columns = kLeastColumns; columns <= kMostOfRounds; columns += kMultiple)
    tiles[number++] = {kTallTile, columns, ofTall(columns), ofTall(columns)};
  return tiles;
}
constexpr std::array<WarpgroupTile, kCount> kRoundTiles = makeTiles();

int64_t roundsOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  return int64_t(llvm::divideCeil(uint64_t(*warpgroupTilesOf(shape, product, tile)), uint64_t(kMultiprocessors)));
}

/// Whether it is the narrowest of its height for its number of rounds.
bool isOfRounds(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const int64_t rounds = roundsOf(shape, product, tile);
  const WarpgroupTile narrower{tile.rows, tile.columns - kMultiple, 0};
  return rounds >= 1 && rounds <= kMostRounds &&
         (tile.columns == kLeastColumns || roundsOf(shape, product, narrower) > rounds);
}

bool hasWholeLines(const GroupShape &shape, const Operand &operand) {
  constexpr int64_t kLineBytes = 128;
  return *shape.axes[operand.vectorAxis].size * dispatch::elementBytes(operand.value.getType()) % kLineBytes == 0;
}

double bytesInMicrosecond(const GroupShape &shape, const Product &product) {
  if (product.left.isAlongReduced && product.right.isAlongReduced)
    return kBytesAlong;
  const bool areLines = hasWholeLines(shape, product.left) && hasWholeLines(shape, product.right);
  return product.right.isAlongReduced && areLines ? kBytesOfLines : kBytesAcross;
}

double microsecondsOfRounds(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const int64_t blocks = std::min(*warpgroupTilesOf(shape, product, tile), kMultiprocessors),
                staged = tile.rows + columnsOfStage(product.right, uint32_t(tile.columns));
  const double ofReads = double(blocks * staged) * kStepBytes / bytesInMicrosecond(shape, product),
               ofRounds =
                   double(roundsOf(shape, product, tile)) * (stepsOf(shape, product) * ofReads + kMicrosecondsOfTile);
  return std::max(*microsecondsWithReads(shape, product, tile), ofRounds);
}

} // namespace

SmallVector<RoundTile> roundTilesOf(const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven) {
  func::FuncOp function = kernel.function;
  SmallVector<RoundTile> found;
  if (!function->hasAttr(dispatch::kHopperOnlyAttr) || !asGiven.tensorCoreElement() ||
      !waitsForMatrix(shape, asGiven) || shape.sizeOf(asGiven.reduced) == 0 ||
      !NarrowResult::mapOf(kernel, shape, asGiven)) // others were not measured
    return found;
  for (bool isExchanged : {false, true}) {
    Product product = asGiven;
    if (isExchanged)
      product.exchangeSides();
    // Of results that are turned, boxes alone are stored fast.
    if (isSideBySide(shape, product, kSmallTile) || (isExchanged && !NarrowResult::mapOf(kernel, shape, product)))
      continue;
    for (const WarpgroupTile &tile : kRoundTiles)
      if (isWarpgroupTile(tile.rows, tile.columns, product.right) && isOfRounds(shape, product, tile) &&
          haveBoxes(shape, product, tile))
        found.push_back({&tile, isExchanged});
  }
  return found;
}

std::optional<RoundTile> bestRoundTile(const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven,
                                       double microseconds) {
  std::optional<RoundTile> best;
  if (stepsOf(shape, asGiven) < kLeastSteps)
    return best;
  double least = (1 - kLeastGain) * microseconds;
  for (const RoundTile &each : roundTilesOf(kernel, shape, asGiven)) {
    Product product = asGiven;
    if (each.isExchanged)
      product.exchangeSides();
    if (each.tile->columns < kLeastChosen)
      continue;
    if (const double taken = microsecondsOfRounds(shape, product, *each.tile); taken < least)
      best = each, least = taken;
  }
  return best;
}

} // namespace tenon::compiler::codegen
