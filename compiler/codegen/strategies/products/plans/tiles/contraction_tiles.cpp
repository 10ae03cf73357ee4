// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr WarpgroupTile kWarpgroupTiles[] = {{128, 256, 0.705, 0.705}, {128, 192, 0.54, 0.54}, {128, 128, 0.425, 0.425},
                                             {128, 64, 0.25, 0.25},    {64, 256, 0.42, 0.36},  {64, 192, 0.32, 0.3},
                                             {64, 128, 0.22, 0.22},    {64, 64, 0.15, 0.225},  {256, 128, 0.72, 0.72}};
constexpr const WarpgroupTile &kOfFewRows = kWarpgroupTiles[6], &kNarrowOfFewRows = kWarpgroupTiles[7];
constexpr int64_t kLeastAcrossOfClusters = 16;
// Of so many rows boxes bring little, and who asks for a part of them waits for the slowest of all.
constexpr int64_t kMostRowsAlone = 32;
// Blocks of a cluster wait for each other at each tile: of short sums for longer than boxes take (an H200: bf16, 64
// rows of 64 elements, 32 x 3136 columns that lie across 14.5 us, alone 9.0; of 256 elements 27.4 and 22.1).
constexpr double kLeastStepsOfClusters = 8;
// So many blocks of quads run at once on an H100 or H200, whose multiprocessors are groups of 16 and 18 and some fewer.
// A few more would double the time.
constexpr int64_t kMostOfQuads = 112;

// For each column of weights that a tile computes, in a step: what two producers take, and what the others notice.
constexpr double kMicrosecondsOfComputed = 0.0048, kMicrosecondsBesideComputed = 0.001;
// Sums of wider tiles take registers that two producers have.
constexpr int64_t kMostColumnsComputed = 128;
constexpr WarpgroupTile kUnknownSizes = kWarpgroupTiles[2];
// A step of the highest tile of which at most three of four parts of 64 rows have a row (130 x 28672 x 4096: 80 us, in
// tiles of 64 x 128 87; 144 x 13688 x 592 11.4 and 14.1).
constexpr int64_t kMostOfThreeParts = 192;
constexpr double kMicrosecondsOfThreeParts = 0.6;

// Bytes in a microsecond that multiprocessors get all together: from the second-level cache, and of operands that it
// holds or that memory has; of the latter fewer blocks have less on their way. Products of 65 to 200 rows with large
// matrices wait for that (measured on an H200: bf16 nt 70, 128, 130 and 200 x 4096 to 28672 x 4096 and 14336; the tile
// that is chosen by it takes 1 % more than the best one, on average).
constexpr double kBytesOfCaches = 12e6, kBytesOfResident = 8e6, kBytesOfMemory = 3.5e6, kCacheBytes = 50e6;
constexpr double kStepBytes = 128, kBlocksOfMemory = 120, kBlocksOfCaches = 92, kShareOfLast = 0.6;
// The same of the caches, of more rows than a tile has, for tiles of no more rows and columns than that which are one
// round, of operands that lie along the sum: blocks read the same at the same time (bf16 nt 256 x 4096 x 14336: 64 x
// 128 47.8 us, 128 x 64 48.7, 128 x 128 by two blocks 50.1; tf32 256 x 4096 x 4096 29.3, 30.3, 32.7. In more rounds, or
// across, larger tiles are faster: nt 300 x 28672 x 4096 128, in tiles of 64 x 128 148; tf32 nn 33.0, 36.8).
constexpr double kBytesOfSmallTiles = 14.5e6;
constexpr int64_t kSidesOfSmallTiles = 192;
// Two of the smallest tiles wait for more than one of twice the size: a step of all then takes so long.
constexpr double kMicrosecondsOfSmallest = 0.2;

// A row of a box that begins inside of a line of the cache is a part of two, and takes longer: more so where it begins
// inside of a sector. For each row of a step, to bring it to a multiprocessor, and of all of them at once, to bring it
// from the second-level cache (measured on an H200; what tiles take of whole lines is what steps were measured to
// take).
constexpr int64_t kLineBytes = 128, kSectorBytes = 32;
struct Rows {
  double microseconds, microsecondsOfAll;
};
constexpr Rows kWholeLines = {0, 0}, kSplitLines = {0.0014, 128 / 9.5e6}, kSplitSectors = {0.0021, 128 / 6.5e6};
// What a pair's blocks take of the right operand's rows, each: half of them, and what the other's are waited for.
constexpr double kShareOfPairs = 0.75, kShareOfProducts = 0.05;
constexpr double kLeastMicrosecondsOfPairs = 30, kLeastWhereSectorsAreSplit = 10;
constexpr uint64_t kLeastRoundsOfPairs = 8;

// A step, for each result of a tile, where threads copy an operand as it lies across, since rows of places are no
// boxes, and between tiles (measured on an H200: bf16, 32 images of 28 x 28 places, channels second, 512 channels to
// 128 and 256, and 128 to 512). Wider tiles are slower.
// Where both operands lie across, the largest of them takes less from two steps on (gradients by data of 28, 36 and 44
// places squared, 256 to 832 channels: 0.5 to 0.8 us a step).
constexpr double kMicrosecondsOfCopiedAcross = 5.4e-5, kMicrosecondsOfNarrow = 5e-5, kMicrosecondsBetweenCopied = 0.2,
                 kMicrosecondsOfBothAcross = 4.1e-5;

// Of short sums in one round of tiles: the launch, what is behind the steps of each tile for each of its elements, and
// so much of a step (an H200, bf16, 11 layers of 1 x 1 windows in 60 tiles: all but 7 within 10 %). Nothing hides what
// is behind the steps there (6272 x 512 x 1024: 128 x 256 14.3 us, 64 x 128 in three rounds 12.4; 6272 x 512 x
// 512 10.4, 9.4). Of fewer steps, or more rounds, it was measured to be no gain (25088 x 512 x 128: 10.8, 12.2).
constexpr double kLeastShortSteps = 8, kMostShortSteps = 24, kMicrosecondsOfLaunch = 3.5,
                 kMicrosecondsOfElement = 1.65 / 32768, kHiddenBehindTile = 0.23, kLeastBehindTile = 0.15,
                 kShareOfSteps = 0.887, kLeastGainOfShort = 0.05;

int64_t ceilDiv(int64_t size, int64_t perTile) {
  return int64_t(llvm::divideCeil(uint64_t(size), uint64_t(perTile)));
}

/// Whether rows of the operand begin anywhere in a line of the cache, or in a sector.
bool areSplit(const GroupShape &shape, const Operand &operand, int64_t bytes) {
  const std::optional<int64_t> size = shape.axes[operand.vectorAxis].size;
  return size && *size * dispatch::elementBytes(operand.value.getType()) % bytes != 0;
}
bool areLinesSplit(const GroupShape &shape, const Operand &operand) {
  return areSplit(shape, operand, kLineBytes);
}

} // namespace

bool areSectorsSplit(const GroupShape &shape, const Operand &operand) {
  return areSplit(shape, operand, kSectorBytes);
}

double stepsOf(const GroupShape &shape, const Product &product) {
  const int64_t depth = warpgroupDepth(product.left.value.getType());
  SmallVector<int64_t> sizes;
  double reduced = 1;
  for (unsigned axis : product.reduced) {
    sizes.push_back(shape.axes[axis].size.value_or(1));
    reduced *= double(sizes.back());
  }
  const Patches patches = patchesOfReduced(shape, product, depth);
  double steps = (patches ? double(patches.count(sizes)) : reduced) / double(depth);
  for (const dispatch::SummedPlaces &places : product.places) {
    double summed = 0;
    for (const auto &run : places.runs)
      summed += double(run.count);
    steps *= summed / double(int64_t(places.runs.size()) * *shape.axes[places.along].size);
  }
  return steps;
}

/// Whether an operand lies across in several dimensions, of which no box has a part.
static bool isCopiedAcross(const GroupShape &shape, const Product &product) {
  return llvm::any_of(std::array{&product.left, &product.right}, [&](const Operand *operand) {
    if (operand->isAlongReduced || operand->across.size() < 2 || !operand->isCopied())
      return false;
    const std::optional<int64_t> size = shape.axes[operand->across.back()].size;
    return size && *size * dispatch::elementBytes(operand->value.getType()) % kLineBytes != 0;
  });
}

/// Whether columns are places of images whose rows in memory are no vectors: of bf16, 32 images of 14 x 14 places, 1024
/// channels to 256, tiles of 64 x 192 take 27.2 us, of 128 x 128 18.0; 256 to 1024 24.2, 19.4.
static bool arePlacesSplit(const GroupShape &shape, const Product &product) {
  constexpr int64_t kVectorBytes = 16;
  if (product.columns.size() < 2 || !product.left.isAlongReduced || !product.right.isAlongReduced)
    return false;
  int64_t places = 1;
  for (unsigned axis : ArrayRef(product.columns).drop_front())
    places *= shape.axes[axis].size.value_or(1);
  return places * dispatch::elementBytes(product.left.value.getType()) % kVectorBytes != 0;
}

/// Steps of the longest tile for each one that a tile has on average.
static double longestStepsOf(const Product &product) {
  double longest = 1;
  for (const dispatch::SummedPlaces &places : product.places) {
    int64_t summed = 0, most = 0;
    for (const auto &run : places.runs)
      summed += run.count, most = std::max(most, run.count);
    longest *= double(most) * double(places.runs.size()) / double(std::max<int64_t>(summed, 1));
  }
  return longest;
}

std::optional<int64_t> warpgroupTilesOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile,
                                        int64_t cluster) {
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

/// Whether pairs take no more rounds than tiles alone. A tile behind the last row is zeros that the copy writes, unless
/// its boxes are left out (tightMapOf): an H200: tn 264 x 3240 x 8272 of bf16 81 us instead of 58.
static bool arePairsAsMany(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  if (!hasPairs(shape, product, tile))
    return false;
  const std::optional<int64_t> alone = warpgroupTilesOf(shape, product, tile),
                               pairs = warpgroupTilesOf(shape, product, tile, kPair);
  return (product.left.isAlongReduced || *alone == kPair * *pairs) &&
         llvm::divideCeil(uint64_t(*pairs), multiprocessors / kPair) <=
             llvm::divideCeil(uint64_t(*alone), multiprocessors);
}

/// Whether they share rows that begin inside of a sector.
static bool mayPairSectors(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  return areSectorsSplit(shape, product.right) && arePairsAsMany(shape, product, tile);
}

bool waitsForMatrix(const GroupShape &shape, const Product &product) {
  auto isOne = [](ArrayRef<unsigned> axes) { return axes.size() == 1; };
  return !product.routes && product.places.empty() && isOne(product.rows) && isOne(product.columns) &&
         isOne(product.reduced) && !product.left.border && !product.right.border && shape.sizeOf(product.rows) &&
         shape.sizeOf(product.columns) && shape.sizeOf(product.batch) && shape.sizeOf(product.reduced) &&
         !ComputedTile::operandOf(product, shape);
}

/// Whether 256 rows are the height of all, and a part of them stays empty.
static bool isOfThreeParts(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> rows = shape.sizeOf(product.rows);
  return tile.rows == kTallTile && rows && *rows > kLargeTile && *rows <= kMostOfThreeParts && !product.addsSteps() &&
         !product.isReadAcross(product.left) && waitsForMatrix(shape, product);
}

double microsecondsOfReads(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t deep) {
  if (!waitsForMatrix(shape, product) || *shape.sizeOf(product.rows) <= kSmallTile)
    return 0;
  const auto multiprocessors = double(abi::kHopperMultiprocessors);
  const int64_t rows = *shape.sizeOf(product.rows), columns = *shape.sizeOf(product.columns);
  const double tiles = double(*warpgroupTilesOf(shape, product, tile)), steps = stepsOf(shape, product);
  const double blocks = std::min(tiles * double(deep), multiprocessors);
  const double ofTile = double(std::min(tile.rows, rows) + std::min(tile.columns, columns)) * kStepBytes;
  const double operands = double(*shape.sizeOf(product.batch)) * double(rows + columns) * kStepBytes;
  const double idle = std::sqrt(std::max(1.0, kBlocksOfMemory / blocks));
  const double inMicrosecond = operands * steps > kCacheBytes ? kBytesOfMemory : kBytesOfResident;
  if (deep > 1)
    return std::ceil(steps / double(deep)) * std::max(ofTile * std::max(blocks, kBlocksOfCaches) / kBytesOfCaches,
                                                      operands * double(deep) / inMicrosecond * idle);
  // In a last round that is part empty nobody else reads, but those who do get more.
  const double rounds = std::ceil(tiles / multiprocessors);
  const double last = rounds > 1 ? 1 + (rounds * multiprocessors / tiles - 1) * kShareOfLast : idle;
  const bool isSmallest = tile.rows == kSmallTile && tile.columns == kSmallTile;
  const bool isSmall = rows > kLargeTile && tile.rows + tile.columns <= kSidesOfSmallTiles && rounds == 1 &&
                       product.left.isAlongReduced && product.right.isAlongReduced;
  return steps * std::max({tiles * ofTile / (isSmall ? kBytesOfSmallTiles : kBytesOfCaches),
                           operands / inMicrosecond * last, isSmallest ? rounds * kMicrosecondsOfSmallest : 0});
}

std::optional<double> microsecondsWithReads(const GroupShape &shape, const Product &product,
                                            const WarpgroupTile &tile) {
  const std::optional<double> taken = microsecondsOf(shape, product, tile);
  if (!taken)
    return std::nullopt;
  // Of tiles that bring as much, the one whose products take less time.
  const double ofReads = microsecondsOfReads(shape, product, tile) + kMicrosecondsOfTile;
  return ofReads > *taken ? ofReads + kShareOfProducts * *taken : *taken;
}

double microsecondsOfStep(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t blocks) {
  if (ComputedTile::operandOf(product, shape))
    return std::max(tile.microseconds + double(tile.columns) * kMicrosecondsBesideComputed,
                    double(tile.columns) * kMicrosecondsOfComputed);
  if (product.rows.size() > 1 && patchesOfRows(shape, product, tile.rows))
    return tile.ofPatches;
  if (isCopiedAcross(shape, product)) {
    constexpr double kLeastSteps = 2;
    const bool areBoth = !product.left.isAlongReduced && !product.right.isAlongReduced && tile.rows == kLargeTile &&
                         tile.columns == kLargeTile && stepsOf(shape, product) >= kLeastSteps;
    return double(tile.rows * tile.columns) * (areBoth                      ? kMicrosecondsOfBothAcross
                                               : tile.columns <= kSmallTile ? kMicrosecondsOfNarrow
                                                                            : kMicrosecondsOfCopiedAcross);
  }
  if (product.routes || product.rows.size() != 1 || product.columns.size() != 1 || product.reduced.size() != 1)
    return tile.microseconds;
  double own = 0, all = 0;
  auto add = [&](const Operand &operand, int64_t side, double share) {
    const Rows &rows = areSectorsSplit(shape, operand) ? kSplitSectors
                       : areLinesSplit(shape, operand) ? kSplitLines
                                                       : kWholeLines;
    const double count = share * double(std::min(side, shape.sizeOf(operand.across).value_or(side)));
    own += count * rows.microseconds;
    all += count * rows.microsecondsOfAll * double(blocks);
  };
  add(product.left, tile.rows, 1);
  add(product.right, tile.columns, mayPairSectors(shape, product, tile) ? kShareOfPairs : 1);
  // Of tiles that take as long, the one whose products take less time.
  const double most = std::max(own, all);
  const double products = isOfThreeParts(shape, product, tile) ? kMicrosecondsOfThreeParts : tile.microseconds;
  return most == 0 ? products : std::max(products, most) + kShareOfProducts * products;
}

std::optional<double> microsecondsOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
  if (!tiles)
    return std::nullopt;
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  const double ofStep = microsecondsOfStep(shape, product, tile, std::min(*tiles, int64_t(multiprocessors)));
  const double ofTile = stepsOf(shape, product) * ofStep;
  if (!product.places.empty()) // blocks with long tiles have fewer of them
    return std::max(ofTile * longestStepsOf(product) + kMicrosecondsOfTile,
                    double(*tiles) / double(multiprocessors) * (ofTile + kMicrosecondsOfTile));
  const double between = isCopiedAcross(shape, product) ? kMicrosecondsBetweenCopied : kMicrosecondsOfTile;
  return double(llvm::divideCeil(uint64_t(*tiles), multiprocessors)) * (ofTile + between);
}

ArrayRef<WarpgroupTile> warpgroupTiles() {
  return kWarpgroupTiles;
}

const WarpgroupTile &warpgroupTileOfUnknownSizes() {
  return kUnknownSizes;
}

const WarpgroupTile &routedWarpgroupTile(const GroupShape &shape, const Product &product, int64_t side) {
  // Of experts with fewer rows on average, memory is all that matters: as many tiles as give every multiprocessor the
  // same to read. Of more, some expert may have many.
  constexpr int64_t kFewRows = 16;
  const std::optional<int64_t> columns = shape.sizeOf(product.columns), rows = shape.sizeOf(product.rows);
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  const bool isOfFew = rows && *rows < kFewRows * product.experts;
  // A row of tiles for each expert that may be named; of many rows, half of a tile more for each.
  const int64_t named = std::min(rows.value_or(product.experts), product.experts);
  const int64_t inColumn = std::max<int64_t>(1, isOfFew || !rows ? named : *rows / side + product.experts / 2);
  const WarpgroupTile *best = nullptr;
  double least = 0;
  for (const WarpgroupTile &tile : kWarpgroupTiles) {
    if (tile.rows != side || tile.columns < kLargeTile || !isWarpgroupTile(tile.rows, tile.columns, product.right))
      continue;
    const int64_t tiles = inColumn * ceilDiv(columns.value_or(1), tile.columns);
    const double taken = double(llvm::divideCeil(uint64_t(tiles), multiprocessors)) *
                         (isOfFew ? double(tile.columns) : tile.microseconds);
    if (!best || taken < least)
      best = &tile, least = taken;
  }
  return *best;
}

Multiplier multiplierOf(const abi::TargetArch &target, const Product &product) {
  if (product.isOfDoubles())
    return target.number >= 80 ? Multiplier::TensorCore : Multiplier::Scalar;
  Type element = product.warpElement();
  if (!element || !hasTensorCoresFor(product, target))
    return Multiplier::Scalar;
  return target == kHopper ? Multiplier::Warpgroup : Multiplier::TensorCore;
}

std::optional<int64_t> tilesOf(const GroupShape &shape, const Product &product, int64_t side, int64_t columns) {
  const std::optional<int64_t> batch = shape.sizeOf(product.batch), rows = shape.sizeOf(product.rows),
                               across = shape.sizeOf(product.columns);
  if (!batch || !rows || !across)
    return std::nullopt;
  return *batch * ceilDiv(*rows, side) * ceilDiv(*across, columns);
}

/// What a product of a short sum takes, with the launch.
static double microsecondsOfShortSum(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;
  const int64_t tiles = *warpgroupTilesOf(shape, product, tile);
  const auto rounds = double(ceilDiv(tiles, kMultiprocessors));
  const double ofSteps = stepsOf(shape, product) *
                         microsecondsOfStep(shape, product, tile, std::min(tiles, kMultiprocessors)) * kShareOfSteps,
               behind = std::max(kLeastBehindTile,
                                 double(tile.rows * tile.columns) * kMicrosecondsOfElement - kHiddenBehindTile);
  return kMicrosecondsOfLaunch + rounds * (ofSteps + behind);
}

const WarpgroupTile *bestWarpgroupTile(const GroupShape &shape, const Product &product, int64_t launched) {
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  if (isSideBySide(shape, product, kSmallTile)) { // the caches and the memory are all that matters
    const bool isNarrow =
        product.right.isAlongReduced &&
        warpgroupTilesOf(shape, product, kNarrowOfFewRows).value_or(INT64_MAX) <= int64_t(multiprocessors);
    return isNarrow ? &kNarrowOfFewRows : &kOfFewRows;
  }
  const bool isComputed = ComputedTile::operandOf(product, shape),
             isCopied = isCopiedAcross(shape, product) || arePlacesSplit(shape, product);
  const std::optional<int64_t> columns = shape.sizeOf(product.columns);
  auto mayBe = [&](const WarpgroupTile &tile) {
    const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
    if (!tiles || std::min(*tiles, int64_t(multiprocessors)) > launched ||
        !isWarpgroupTile(tile.rows, tile.columns, product.right) ||
        ((isComputed || isCopied) && tile.columns > kMostColumnsComputed))
      return false;
    if (tile.rows > kLargeTile && !isComputed && !isOfThreeParts(shape, product, tile))
      return false;
    // A narrower one has all of them.
    return !columns || *columns > tile.columns / 2 || tile.columns <= kSmallTile;
  };
  const WarpgroupTile *best = nullptr;
  double least = 0;
  for (const WarpgroupTile &tile : kWarpgroupTiles)
    if (mayBe(tile))
      if (const double taken = *microsecondsWithReads(shape, product, tile); !best || taken < least)
        best = &tile, least = taken;
  const double steps = stepsOf(shape, product);
  if (!best || !waitsForMatrix(shape, product) || steps < kLeastShortSteps || steps > kMostShortSteps ||
      *warpgroupTilesOf(shape, product, *best) > int64_t(multiprocessors))
    return best;
  least = (1 - kLeastGainOfShort) * microsecondsOfShortSum(shape, product, *best);
  for (const WarpgroupTile &tile : kWarpgroupTiles)
    if (mayBe(tile))
      if (const double taken = microsecondsOfShortSum(shape, product, tile); taken < least)
        best = &tile, least = taken;
  return best;
}

bool isSideBySide(const GroupShape &shape, const Product &product, int64_t rows) {
  const std::optional<int64_t> size = shape.sizeOf(product.rows);
  return size && *size <= rows;
}

uint32_t bestClusterAcross(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> columns = shape.sizeOf(product.columns);
  const int64_t across = columns ? ceilDiv(*columns, tile.columns) : 0;
  if (tile.columns == kNarrowOfFewRows.columns || tile.rows > kLargeTile || across < kLeastAcrossOfClusters ||
      *shape.sizeOf(product.rows) <= kMostRowsAlone || stepsOf(shape, product) < kLeastStepsOfClusters)
    return 1;
  const int64_t tiles = shape.sizeOf(product.batch).value_or(1) * across;
  if (tiles > kMostOfQuads && tiles <= int64_t(abi::kHopperMultiprocessors))
    return 1;
  return across % kQuad == 0 ? kQuad : across % kPair == 0 ? kPair : 1;
}

bool hasPairs(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> alone = warpgroupTilesOf(shape, product, tile),
                               pairs = warpgroupTilesOf(shape, product, tile, kPair);
  return alone && *pairs < *alone;
}

bool isPairWorthwhile(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  if (!arePairsAsMany(shape, product, tile))
    return false;
  const uint64_t multiprocessors = abi::kHopperMultiprocessors;
  const std::optional<int64_t> alone = warpgroupTilesOf(shape, product, tile);
  const uint64_t rounds = llvm::divideCeil(uint64_t(*alone), multiprocessors);
  const double ofStep = microsecondsOfStep(shape, product, tile, std::min(*alone, int64_t(multiprocessors)));
  const double taken = double(rounds) * stepsOf(shape, product) * ofStep;
  if (areSectorsSplit(shape, product.right) && taken >= kLeastWhereSectorsAreSplit)
    return true;
  // From registers it is no faster where lines alone are split.
  const bool areSplit = (areLinesSplit(shape, product.left) || areLinesSplit(shape, product.right)) &&
                        !product.isReadAcross(product.left);
  return taken >= kLeastMicrosecondsOfPairs && (rounds >= kLeastRoundsOfPairs || areSplit);
}

} // namespace tenon::compiler::codegen
