// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/contraction_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/kernel_config.h"

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
// So many blocks of quads run at once on an H100 or H200, whose multiprocessors are groups of 16 and 18 and some fewer.
// A few more would double the time.
constexpr int64_t kMostOfQuads = 112;

// For each column of weights that a tile computes, in a step: what two producers take, and what the others notice.
constexpr double kMicrosecondsOfComputed = 0.0048, kMicrosecondsBesideComputed = 0.001;
// Sums of wider tiles take registers that two producers have.
constexpr int64_t kMostColumnsComputed = 128;
constexpr WarpgroupTile kUnknownSizes = kWarpgroupTiles[2];

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

// Those of warps on tensor cores, and of windows.
constexpr ScalarTile kWarpTiles[] = {{128, 128, 2, 355, 434}, {128, 64, 3, 192, 242}, {64, 64, 4, 138, 90}};
constexpr ScalarTile kScalarTiles[] = {{128, 128, 2, 355, 434}, {128, 64, 3, 192, 242}, {64, 128, 3, 192, 300},
                                       {128, 32, 5, 110, 150},  {32, 128, 5, 110, 150}, {64, 64, 4, 138, 90}},
                     kDoubleTiles[] = {
                         {128, 64, 2, 155, 200}, {64, 64, 3, 80, 110}, {32, 64, 5, 60, 105}, {64, 32, 5, 60, 105}};

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
bool areSectorsSplit(const GroupShape &shape, const Operand &operand) {
  return areSplit(shape, operand, kSectorBytes);
}

} // namespace

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
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
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

double microsecondsOfStep(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t blocks) {
  if (ComputedTile::operandOf(product, shape))
    return std::max(tile.microseconds + double(tile.columns) * kMicrosecondsBesideComputed,
                    double(tile.columns) * kMicrosecondsOfComputed);
  if (product.rows.size() > 1 && patchesOfRows(shape, product, tile.rows))
    return tile.ofPatches;
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
  return most == 0 ? tile.microseconds : std::max(tile.microseconds, most) + kShareOfProducts * tile.microseconds;
}

std::optional<double> microsecondsOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
  if (!tiles)
    return std::nullopt;
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const double ofStep = microsecondsOfStep(shape, product, tile, std::min(*tiles, int64_t(multiprocessors)));
  const double ofTile = stepsOf(shape, product) * ofStep;
  if (!product.places.empty()) // blocks with long tiles have fewer of them
    return std::max(ofTile * longestStepsOf(product) + kMicrosecondsOfTile,
                    double(*tiles) / double(multiprocessors) * (ofTile + kMicrosecondsOfTile));
  return double(llvm::divideCeil(uint64_t(*tiles), multiprocessors)) * (ofTile + kMicrosecondsOfTile);
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
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
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

ArrayRef<ScalarTile> scalarTiles(const Product &product) {
  if (product.isOfDoubles())
    return kDoubleTiles;
  const bool isWide = product.sum.sum.type.getIntOrFloatBitWidth() > 32;
  if (isWide)
    return ArrayRef(kScalarTiles).take_back();
  const bool isPlain = product.rows.size() == 1 && !product.left.border && !product.right.border;
  return product.warpElement() || !isPlain ? ArrayRef(kWarpTiles) : ArrayRef(kScalarTiles);
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

const WarpgroupTile *bestWarpgroupTile(const GroupShape &shape, const Product &product, int64_t launched) {
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  if (isSideBySide(shape, product, kSmallTile)) { // the caches and the memory are all that matters
    const bool isNarrow =
        product.right.isAlongReduced &&
        warpgroupTilesOf(shape, product, kNarrowOfFewRows).value_or(INT64_MAX) <= int64_t(multiprocessors);
    return isNarrow ? &kNarrowOfFewRows : &kOfFewRows;
  }
  const bool isComputed = ComputedTile::operandOf(product, shape);
  const std::optional<int64_t> columns = shape.sizeOf(product.columns);
  const WarpgroupTile *best = nullptr;
  double least = 0;
  for (const WarpgroupTile &tile : kWarpgroupTiles) {
    const std::optional<int64_t> tiles = warpgroupTilesOf(shape, product, tile);
    if (!tiles || std::min(*tiles, int64_t(multiprocessors)) > launched ||
        !isWarpgroupTile(tile.rows, tile.columns, product.right) || (isComputed && tile.columns > kMostColumnsComputed))
      continue;
    if (tile.rows > kLargeTile && !isComputed)
      continue;
    if (columns && *columns <= tile.columns / 2 && tile.columns > kSmallTile) // a narrower one has all of them
      continue;
    const double taken = *microsecondsOf(shape, product, tile);
    if (!best || taken < least)
      best = &tile, least = taken;
  }
  return best;
}

bool isSideBySide(const GroupShape &shape, const Product &product, int64_t rows) {
  const std::optional<int64_t> size = shape.sizeOf(product.rows);
  return size && *size <= rows;
}

uint32_t bestClusterAcross(const GroupShape &shape, const Product &product, const WarpgroupTile &tile) {
  const std::optional<int64_t> columns = shape.sizeOf(product.columns);
  const int64_t across = columns ? ceilDiv(*columns, tile.columns) : 0;
  if (tile.columns == kNarrowOfFewRows.columns || across < kLeastAcrossOfClusters ||
      *shape.sizeOf(product.rows) <= kMostRowsAlone)
    return 1;
  const int64_t tiles = shape.sizeOf(product.batch).value_or(1) * across;
  if (tiles > kMostOfQuads && tiles <= int64_t(abi::findArchitecture(90)->product.multiprocessors))
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
  const uint64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
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

double timeOf(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  const int64_t multiprocessors = abi::findArchitecture(90)->product.multiprocessors;
  const int64_t tiles = *tilesOf(shape, product, tile.rows, tile.columns), inRound = multiprocessors * tile.resident;
  const int64_t each = (tiles + multiprocessors - 1) / multiprocessors;
  return tiles <= inRound ? std::max(tile.alone, double(each) * tile.shared)
                          : double((tiles + inRound - 1) / inRound * tile.resident) * tile.shared;
}

bool isForSize(const GroupShape &shape, const Product &product, const ScalarTile &tile) {
  const bool isNarrow = tile.rows == kNarrowTile || tile.rows < tile.columns;
  return (!isNarrow || *shape.sizeOf(product.rows) <= tile.rows) &&
         (tile.columns != kNarrowTile || *shape.sizeOf(product.columns) <= tile.columns);
}

const ScalarTile &bestScalarTile(const GroupShape &shape, const Product &product) {
  const ScalarTile *best = nullptr;
  double least = 0;
  for (const ScalarTile &tile : scalarTiles(product)) {
    if (!isForSize(shape, product, tile))
      continue;
    if (const double taken = timeOf(shape, product, tile); !best || taken < least)
      best = &tile, least = taken;
  }
  return *best;
}

} // namespace tenon::compiler::codegen
