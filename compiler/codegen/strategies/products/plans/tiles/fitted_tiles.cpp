// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/fitted_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/splits/cluster_splits.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMultiple = kFittedMultiple, kLeastColumns = kLeastFittedColumns;
constexpr size_t kCount =
    (kMostFittedColumns + kMostFittedOfTwo + kMostFittedOfFour - 3 * (kLeastColumns - kMultiple)) / kMultiple;

/// What a step of 64 rows takes, between what was measured.
constexpr double ofSmall(int64_t columns) {
  constexpr std::array<std::pair<int64_t, double>, 5> kMeasured = {
      {{32, 0.19}, {64, 0.195}, {128, 0.27}, {192, 0.32}, {256, 0.42}}};
  for (size_t i = 1; i < kMeasured.size(); ++i)
    if (const auto [end, most] = kMeasured[i]; columns <= end) {
      const auto [begin, least] = kMeasured[i - 1];
      return least + (most - least) * double(columns - begin) / double(end - begin);
    }
  return kMeasured.back().second;
}

constexpr double ofLarge(int64_t columns) {
  return 0.142 + 0.00215 * double(columns);
}

constexpr double ofTall(int64_t columns) {
  return 2 * ofLarge(columns);
}

constexpr std::array<WarpgroupTile, kCount> makeTiles() {
  std::array<WarpgroupTile, kCount> tiles{};
  size_t number = 0;
  for (int64_t columns = kLeastColumns; columns <= kMostFittedColumns; columns += kMultiple)
    tiles[number++] = {kSmallTile, columns, ofSmall(columns), ofSmall(columns)};
  for (int64_t columns = kLeastColumns; columns <= kMostFittedOfTwo; columns += kMultiple)
    tiles[number++] = {kLargeTile, columns, ofLarge(columns), ofLarge(columns)};
  for (int64_t columns = kLeastColumns; columns <= kMostFittedOfFour; columns += kMultiple)
    tiles[number++] = {kTallTile, columns, ofTall(columns), ofTall(columns)};
  return tiles;
}
constexpr std::array<WarpgroupTile, kCount> kFittedTiles = makeTiles();

// Of an H100 or H200.
constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;
// Less is gained than what the model may be wrong by.
constexpr double kLeastGain = 0.04, kLeastMicroseconds = 0.3;
// What a product takes longer for each time that the matrix is read once more (70 and 128 x 6144 x 4096: 64 x 96 20.0
// and 18.8 us, 128 x 48 18.3 and 18.0).
constexpr double kShareOfReading = 0.06;
// Of more rows, and of smaller matrices, none was measured to gain (193 to 512 rows: bf16 384 x 6144 x 4096 34.0
// -> 30.1 us, 209 x 9088 x 3136 28.5 -> 25.6, f16 488 x 4736 x 4224 35.5 -> 31.5; eight of eight are faster by 6 to 13
// %).
constexpr int64_t kMostRows = 512;
constexpr double kLeastMatrix = 40e6;

// Of up to 64 rows (an H200: 90 products, what is chosen by it takes 0.8 % more than the best tile on average). Bytes
// that all blocks get of the second-level cache in a microsecond; of a matrix that it holds, and of one that memory
// has; fewer than so many blocks get less of both. What steps of f8 take more, whose sums are added (product.h).
// Blocks of a cluster until they have met twice, and for each one more than two.
constexpr double kStepBytes = 128, kBytesOfCaches = 10.8e6, kBytesOfResident = 6.3e6, kBytesOfMemory = 4e6,
                 kCacheBytes = 50e6;
constexpr double kAllBlocks = 128, kFewer = 0.35, kMicrosecondsOfAdding = 0.03, kMicrosecondsOfPair = 2,
                 kMicrosecondsOfBlock = 0.45;
// Rows of a matrix that lies across are short in narrow tiles, and memory gives less.
constexpr double kShortRows = 1.11;
constexpr int64_t kLongRow = 256;
// So much of a last round of tiles that is not full counts.
constexpr double kShareOfLast = 0.15;
// A matrix of so many bytes is read sooner by tiles than into registers, of up to 8 rows, along or across; of more
// rows, one of so many elements. (bf16 nt 1 x 4096 x 14336 34.9 -> 31.3 us, 1 x 6144 x 4096 12.5 and 14.5, 16 x 6144 x
// 4096 17.6 -> 14.5, 16 x 4096 x 4096 9.4 and 9.6.)
constexpr double kLeastOfVeryFew = 56e6, kLeastAcross = 40e6, kLeastElements = 20e6;
constexpr double kLeastOfFewRows = 9e6; // smaller ones take as long in any of several ways
constexpr int64_t kVeryFew = 8, kLeastBlocks = 76;
constexpr int64_t kMostOfFitted = 4; // blocks of a cluster, as measured

bool isForHopper(const KernelFunction &kernel) {
  func::FuncOp function = kernel.function;
  return function->hasAttr(dispatch::kHopperOnlyAttr);
}

double bytesOfMatrix(const GroupShape &shape, const Product &product) {
  return double(*shape.sizeOf(product.batch)) * double(*shape.sizeOf(product.columns)) *
         double(*shape.sizeOf(product.reduced)) * dispatch::elementBytes(product.right.value.getType());
}

bool isOfFewRows(const KernelFunction &kernel, const GroupShape &shape, const Product &product) {
  const Type factor = product.right.factor;
  const bool isFloat = factor.isF16() || factor.isBF16() || product.isOfF8();
  return isForHopper(kernel) && isFloat && waitsForMatrix(shape, product) && isSideBySide(shape, product, kSmallTile) &&
         *shape.sizeOf(product.reduced) != 0 && *shape.sizeOf(product.rows) != 0 &&
         bytesOfMatrix(shape, product) >= kLeastOfFewRows;
}

/// The same tile with the time of a step that was measured beside large matrices.
const WarpgroupTile &asFitted(const WarpgroupTile &tile) {
  for (const WarpgroupTile &each : kFittedTiles)
    if (each.rows == tile.rows && each.columns == tile.columns)
      return each;
  return tile;
}

double microsecondsOfFewRows(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  const int64_t rows = *shape.sizeOf(product.rows), columns = *shape.sizeOf(product.columns);
  const double tiles = double(*warpgroupTilesOf(shape, product, tile)), steps = stepsOf(shape, product),
               blocks = std::min(tiles * double(deep), double(kMultiprocessors)),
               rounds = std::ceil(tiles / double(kMultiprocessors));
  const double ofTile = double(rows + std::min(tile.columns, columns)) * kStepBytes,
               operands = double(*shape.sizeOf(product.batch)) * double(rows + columns) * kStepBytes;
  const double share = rounds > 1 ? 1 + (rounds * double(kMultiprocessors) / tiles - 1) * kShareOfLast
                                  : std::pow(std::max(1.0, kAllBlocks / blocks), kFewer);
  const double inMicrosecond = operands * steps > kCacheBytes ? kBytesOfMemory : kBytesOfResident;
  const double ofStep = microsecondsOfStep(shape, product, asFitted(tile), int64_t(blocks)) +
                        (product.addsSteps() ? kMicrosecondsOfAdding : 0);
  const double across = !product.right.isAlongReduced && tile.columns < kLongRow ? kShortRows : 1;
  const double each = std::max({rounds * ofStep, rounds * blocks * ofTile / kBytesOfCaches,
                                operands * double(deep) / inMicrosecond * share * across});
  const double taken = std::ceil(steps / double(deep)) * each + rounds * kMicrosecondsOfTile;
  if (deep == 1)
    return taken;
  const double added = double(tile.rows * tile.columns) * sizeof(float) * double(deep - 1) / double(deep);
  return taken + kMicrosecondsOfPair + double(deep - 2) * kMicrosecondsOfBlock +
         added * dispatch::kMicrosecondsOfClusterByte;
}

} // namespace

ArrayRef<WarpgroupTile> fittedTiles() {
  return kFittedTiles;
}

bool isFitted(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  if (!waitsForMatrix(shape, product) || !isWarpgroupTile(tile.rows, tile.columns, product.right))
    return false;
  auto areAtOnce = [&](int64_t columns) {
    const WarpgroupTile other{tile.rows, columns, 0};
    return *warpgroupTilesOf(shape, product, other) <= dispatch::clustersAtOnce(deep);
  };
  return areAtOnce(tile.columns) && (tile.columns == kLeastColumns || !areAtOnce(tile.columns - kMultiple));
}

const WarpgroupTile *bestFittedTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                    const WarpgroupTile &whole) {
  const Type factor = product.right.factor;
  if (!isForHopper(kernel) || !waitsForMatrix(shape, product) || isSideBySide(shape, product, kSmallTile) ||
      !(factor.isF16() || factor.isBF16()) || *shape.sizeOf(product.rows) > kMostRows ||
      bytesOfMatrix(shape, product) < kLeastMatrix)
    return nullptr;
  const WarpgroupTile *best = nullptr;
  const double most = (1 - kLeastGain) * *microsecondsWithReads(shape, product, whole);
  double least = HUGE_VAL;
  for (const WarpgroupTile &tile : fittedTiles()) {
    if (tile.rows == kTallTile || !isFitted(shape, product, tile) || !haveBoxes(shape, product, tile))
      continue;
    const double taken = *microsecondsWithReads(shape, product, tile);
    const double times = std::ceil(double(*shape.sizeOf(product.rows)) / double(tile.rows));
    if (const double with = taken * (1 + (times - 1) * kShareOfReading); taken < most && with < least)
      best = &tile, least = with;
  }
  return best;
}

std::optional<DividedTile> bestTallTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                        const WarpgroupTile &whole, double shared,
                                        const std::optional<DividedTile> &sums) {
  // What smaller tiles read twice takes long then (bf16 nt 188 x 8016 x 5048 51.2 -> 43.3 us; of whole lines 160 x 4096
  // x 14336 45.2, in such tiles 48.5).
  if (!isForHopper(kernel) || !waitsForMatrix(shape, product) || shape.sizeOf(product.batch) != 1 ||
      !areSectorsSplit(shape, product.right) || *shape.sizeOf(product.rows) <= kLargeTile ||
      !isSideBySide(shape, product, kTallTile))
    return std::nullopt;
  double least =
      sums ? timeOfKnown(shape, product, *sums->tile, sums->deep) : mostOfClusters(shape, product, whole, shared);
  std::optional<DividedTile> best;
  for (const WarpgroupTile &tile : fittedTiles())
    for (int64_t deep = 2, most = tile.rows == kTallTile ? mostDeep(shape, product, tile) : 1; deep <= most; ++deep)
      if (isFitted(shape, product, tile, deep))
        if (const double taken = timeOfKnown(shape, product, tile, deep); taken < least)
          best = {&tile, deep}, least = taken;
  return best;
}

std::optional<TileOfFewRows> bestTileOfFewRows(const KernelFunction &kernel, const GroupShape &shape,
                                               const Product &product, const WarpgroupTile &whole) {
  if (!isOfFewRows(kernel, shape, product) || !haveBoxes(shape, product, whole))
    return std::nullopt;
  TileOfFewRows best{&whole, 1, microsecondsOfFewRows(shape, product, whole, 1)};
  double least = std::min((1 - kLeastGain) * best.microseconds, best.microseconds - kLeastMicroseconds);
  auto consider = [&](const WarpgroupTile &tile, int64_t deep) {
    if (const double taken = microsecondsOfFewRows(shape, product, tile, deep); taken < least)
      best = {&tile, deep, taken}, least = taken;
  };
  const int64_t columns = *shape.sizeOf(product.columns);
  for (const WarpgroupTile &tile : fittedTiles()) {
    if (tile.rows != kSmallTile || !isWarpgroupTile(tile.rows, tile.columns, product.right) ||
        (columns <= tile.columns / 2 && tile.columns > kSmallTile) || !haveBoxes(shape, product, tile))
      continue;
    if (isFitted(shape, product, tile))
      consider(tile, 1);
    for (int64_t deep = 2, most = mostDeep(shape, product, tile); deep <= most; ++deep)
      if (areAtOnce(shape, product, tile, deep) &&
          (tile.columns % kSmallTile == 0 || (deep <= kMostOfFitted && isFitted(shape, product, tile, deep))))
        consider(tile, deep);
  }
  return best;
}

bool areTilesFaster(const KernelFunction &kernel, const GroupShape &shape, const Product &product) {
  if (!isOfFewRows(kernel, shape, product))
    return false;
  const double bytes = bytesOfMatrix(shape, product),
               elements = bytes / dispatch::elementBytes(product.right.value.getType());
  const bool isLarge = *shape.sizeOf(product.rows) > kVeryFew ? elements >= kLeastElements
                       : product.right.isAlongReduced         ? bytes >= kLeastOfVeryFew
                                                              : bytes >= kLeastAcross;
  if (!isLarge)
    return false;
  const WarpgroupTile *whole = bestWarpgroupTile(shape, product, INT64_MAX);
  const std::optional<TileOfFewRows> best = whole ? bestTileOfFewRows(kernel, shape, product, *whole) : std::nullopt;
  return best && *warpgroupTilesOf(shape, product, *best->tile) * best->deep >= kLeastBlocks;
}

} // namespace tenon::compiler::codegen
