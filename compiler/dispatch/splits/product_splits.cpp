// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/product_splits.h"

#include "abi/arch_table.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/across_twice.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/splits/across_splits.h"
#include "compiler/dispatch/splits/cluster_splits.h"
#include "compiler/dispatch/splits/filter_splits.h"
#include "compiler/dispatch/splits/warp_splits.h"
#include "compiler/dispatch/splits/window_splits.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Products: blocks that keep a large GPU busy, and reduced elements that are worth a part of their own.
constexpr int64_t kEnoughProductBlocks = 96;
constexpr int64_t kLeastOfProduct = 512, kLeastOfScalarProduct = 128, kLeastOfSkinny = 2048;
// More parts of wider tiles for so many rows and bytes of each (measured on an H200: 64 x 4096 x 4096).
constexpr int64_t kRowsOfWideParts = 32, kBytesOfWideParts = 8192;
constexpr int64_t kAlignment = 16;   // bytes: as vectors and boxes begin
constexpr int64_t kWideOfBlock = 16; // results of a block where there are few rows (codegen/strategies)
constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors; // of a large GPU
constexpr int64_t kMostIdle = 8;                                  // times as many as have anything to do

// Sums over several dimensions: tiles of so many rows and columns (half as many rows where there are no more), how long
// a multiprocessor takes for a reduced element of one (an H200, as codegen/strategies/products/contraction measured it)
// and until the next tile begins; a second kernel, and how fast it adds parts that the second-level cache still has.
constexpr double kPlacesTile = 128, kMicrosecondsOfByteOnCores = 0.425 / 128, kMicrosecondsOfScalar = 355.0 / 4096;
constexpr double kMicrosecondsOfPart = 0.5, kMicrosecondsOfSum = 3, kBytesInMicrosecond = 3e6;
constexpr int64_t kLeastOfPlaces = 512, kLeastOfFewPlaces = 32;
// What parts of fewer save at the least: that was not raced for many shapes.
constexpr double kLeastMicrosecondsOfShortParts = 3, kLeastGainOfParts = 0.1;
// Large tiles without tensor cores that a multiprocessor has at a time: one alone has too few warps.
constexpr int64_t kScalarTilesAtOnce = 2;

/// Whether the side comes to tiles in boxes: it lies in memory as it is multiplied.
bool isInMemory(const Contraction &product, const ContractionSide &side) {
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  if (!argument || side.inputs.size() != 1)
    return false;
  Value operand = linalg::GenericOp(product.op)->getOperand(argument.getArgNumber());
  auto copy = operand.getDefiningOp<linalg::GenericOp>();
  // Who reads an element anywhere, as copies with longer rows do, stores it.
  return !copy || !copy.getBody()->getOps<tensor::ExtractOp>().empty();
}

/// Whether blocks of clusters may take the sums of tiles apart, any number of steps each, and add them where they are
/// (codegen/strategies/products/plans/tiles/cluster_sums.h).
bool mayBeInClusters(const Contraction &product) {
  return isForHopper(product.op) && mayRoundForTensorCores(product) && product.reduced.size() == 1 &&
         hasBoxes(product.op) && isInMemory(product, product.left) && isInMemory(product, product.right);
}

/// Whether tiles are so many, or their sums so short, that they do.
bool isForClusters(const Contraction &product, int64_t tilesOfFewRows, int64_t mostParts) {
  constexpr int64_t kMostOfCluster = 8;
  return mayBeInClusters(product) &&
         (tilesOfFewRows * kMostOfCluster >= kEnoughProductBlocks || mostParts <= kMostOfCluster);
}

/// How long a multiprocessor takes for 4096 reduced elements of a tile, in microseconds, where it has one tile at a
/// time, two or more (an H200, as the model of codegen/strategies/products/plans/tiles/contraction_tiles has it).
struct TileTimes {
  double rows, columns;
  double ofOne, ofTwo, ofMany;
};
struct ProductTimes {
  ArrayRef<TileTimes> tiles;
  double ofTile; // until the next one's steps begin
  double sumBytes;
};
constexpr TileTimes kTilesOfF32[] = {{128, 64, 325, 200, 190},
                                     {64, 128, 325, 200, 190},
                                     {128, 32, 226, 125, 118},
                                     {32, 128, 248, 136, 130},
                                     {64, 64, 176, 128, 120}},
                    kTilesOfF64[] = {{128, 64, 160, 142, 140}, {64, 64, 95, 76, 72}, {32, 64, 105, 66, 60}};
constexpr ProductTimes kTimesOfF32 = {kTilesOfF32, 2, sizeof(float)}, kTimesOfF64 = {kTilesOfF64, 2, sizeof(double)};

/// Of products of exact f32, and of f64 on tensor cores; null: it is another one.
const ProductTimes *productTimesOf(const Contraction &product) {
  Type left = factorTypeOf(product.left.value), right = factorTypeOf(product.right.value);
  if (left != right || mayRoundForTensorCores(product))
    return nullptr;
  return left.isF32() ? &kTimesOfF32 : left.isF64() ? &kTimesOfF64 : nullptr;
}

/// How long adding them up takes.
double timeOfSum(const ProductTimes &times, double batch, double rows, double columns, double parts) {
  const double bytes = parts * batch * rows * columns * 2 * times.sumBytes;
  return parts > 1 ? kMicrosecondsOfSum + bytes / kBytesInMicrosecond : 0;
}

/// Of exact f32, in tiles of 128 x 128: a multiprocessor computes two at once, and an odd one behind them alone. Where
/// it has no more than two, nothing runs beside their first and last steps. (An H200, us, predicted and measured: nn
/// 676 x 3669 x 11769 in three parts 1341, 1375; nn 764 x 3022 x 3801 in seven 425, 428; nt 2129 x 1213 x 8760 in six
/// 1035, 1026; nt 512 x 4096 x 4096 in two 383, 403.)
double timeInLargeTiles(double batch, double rows, double columns, double reduced, double parts) {
  constexpr double kReduced = 4096, kSide = 128, kOfOne = 600, kOfTwo = 365, kOfMany = 342;
  const double each =
      std::ceil(batch * std::ceil(rows / kSide) * std::ceil(columns / kSide) * parts / double(kMultiprocessors));
  const double odd = std::fmod(each, 2);
  return reduced / parts * (odd * kOfOne + (each - odd) * (each == 2 ? kOfTwo : kOfMany)) / kReduced +
         each * kTimesOfF32.ofTile + timeOfSum(kTimesOfF32, batch, rows, columns, parts);
}

/// How long such a product of matrices takes in so many parts, in microseconds, with the sum of the parts.
double timeInParts(const ProductTimes &times, double batch, double rows, double columns, double reduced, double parts) {
  constexpr double kReduced = 4096;
  double least = HUGE_VAL;
  for (const TileTimes &tile : times.tiles) {
    // Narrow ones are for products that have no more rows, or columns.
    constexpr double kNarrow = 32;
    if (((tile.rows == kNarrow || tile.rows < tile.columns) && rows > tile.rows) ||
        (tile.columns == kNarrow && columns > tile.columns))
      continue;
    const double each = std::ceil(batch * std::ceil(rows / tile.rows) * std::ceil(columns / tile.columns) * parts /
                                  double(kMultiprocessors)); // tiles of a multiprocessor
    const double element = (each == 1 ? tile.ofOne : each == 2 ? tile.ofTwo : tile.ofMany) / kReduced;
    least = std::min(least, each * (reduced / parts * element + times.ofTile));
  }
  // A last step that is not whole asks for each element.
  constexpr double kStep = 16, kOfRagged = 1.2;
  if (parts > 1 && std::fmod(reduced / parts, kStep) != 0)
    least *= kOfRagged;
  return least + timeOfSum(times, batch, rows, columns, parts);
}

/// Whether clusters do that as well: of few tiles, in few parts of any lengths.
bool isDividedByClusters(const Contraction &product, const std::optional<Split> &split, int64_t tiles) {
  constexpr int64_t kMostOfCluster = 8;
  return isForHopper(product.op) && (!split || (split->parts <= kMostOfCluster && tiles <= kMultiprocessors));
}

/// Of a product of matrices whose time is known; more parts only where a twentieth is gained. Rows of parts stay
/// aligned; of large tiles vectors may become half as long.
std::optional<Split> timedSplitOf(linalg::GenericOp op, const Contraction &product, const ProductTimes &times) {
  constexpr double kLeastGain = 0.05;
  constexpr int64_t kMostParts = 32, kMostOfUnaligned = 128, kAligned = 8, kMostOfLarge = 8, kVector = 4;
  constexpr double kOfHalves = 1.05;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(op, loops)); };
  const unsigned loop = product.reduced.front();
  if (!product.isSummedByAll(loop))
    return std::nullopt;
  const int64_t reduced = sizes[loop];
  const double batch = sizeOf(product.batch), rows = sizeOf(product.rows), columns = sizeOf(product.columns);
  // Rows that begin at no vectors are read element by element, and so may parts be, of any length, where clusters
  // would leave multiprocessors idle.
  constexpr double kSmallTile = 64, kMostOfCluster = 8;
  const bool isUnaligned = reduced % kVector != 0 &&
                           batch * std::ceil(rows / kSmallTile) * std::ceil(columns / kSmallTile) * kMostOfCluster <
                               double(kMultiprocessors);
  const int64_t multiple = isUnaligned ? 1 : kAligned, most = isUnaligned ? kMostOfUnaligned : kMostParts,
                shortest = isUnaligned ? kLeastOfFewPlaces : kLeastOfScalarProduct;
  // Of fewer tiles smaller ones are done sooner, by clusters where a program is for sm_90a alone.
  const bool mayBeLarge =
      &times == &kTimesOfF32 && batch * std::ceil(rows / 128) * std::ceil(columns / 64) > double(kMultiprocessors);
  auto timeOf = [&](int64_t parts) {
    double least = HUGE_VAL;
    if (parts == 1 || reduced % (parts * multiple) == 0)
      least = timeInParts(times, batch, rows, columns, double(reduced), double(parts));
    if (!mayBeLarge || parts > kMostOfLarge || reduced % parts != 0)
      return least;
    const bool isOfVectors = reduced % kVector == 0, isOfHalves = isOfVectors && reduced / parts % kVector != 0;
    if (isOfHalves && reduced / parts % (kVector / 2) != 0)
      return least;
    const double large = timeInLargeTiles(batch, rows, columns, double(reduced), double(parts));
    return std::min(least, large * (isOfHalves ? kOfHalves : 1));
  };
  std::optional<Split> best;
  double least = timeOf(1);
  for (int64_t parts = 2; parts <= std::min(most, reduced / shortest); ++parts)
    if (const double taken = timeOf(parts); taken < (1 - kLeastGain) * least)
      best = Split{loop, parts, reduced, /*isAcross=*/true}, least = taken;
  return best;
}

/// Of a sum over several dimensions, such as all places of all images, the one whose parts are done first: the tiles
/// of all parts, one round of them after the other, and what it takes to add up the parts.
std::optional<Split> placesSplitOf(linalg::GenericOp op, const Contraction &product) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(product.op, loops)); };
  const bool hasCores = mayRoundForTensorCores(product);
  const int64_t bytes = elementBytes(beforeExtension(product.left.value).getType());
  const double rows = sizeOf(product.rows), columns = sizeOf(product.columns), reduced = sizeOf(product.reduced);
  const double results = sizeOf(product.batch) * rows * columns, high = rows > kPlacesTile / 2 ? 1 : 2;
  const double atOnce = hasCores || high == 2 ? 1 : kScalarTilesAtOnce;
  const double tiles = sizeOf(product.batch) * std::ceil(rows / kPlacesTile * high) * std::ceil(columns / kPlacesTile);
  // Windows of few filters without tensor cores have small tiles, of which a multiprocessor has several.
  const ProductTimes *small = high == 2 && readsWindows(op) ? productTimesOf(product) : nullptr;
  auto timeOf = [&](double parts) {
    if (small)
      return timeInParts(*small, sizeOf(product.batch), rows, columns, reduced, parts);
    const double element = (hasCores ? double(bytes) * kMicrosecondsOfByteOnCores : kMicrosecondsOfScalar) / high;
    const double rounds = std::ceil(tiles * parts / (double(kMultiprocessors) * atOnce)) * atOnce;
    const double adding =
        parts > 1 ? kMicrosecondsOfSum + parts * results * 2 * sizeof(float) / kBytesInMicrosecond : 0;
    return rounds * (reduced / parts * element + kMicrosecondsOfPart) + adding;
  };
  std::optional<Split> best;
  double least = timeOf(1);
  auto tryParts = [&](int64_t leastReduced, double gain) {
    for (unsigned loop : product.reduced)
      for (int64_t parts = 2; parts <= sizes[loop]; ++parts)
        if (reduced / double(parts) >= double(leastReduced) && timeOf(double(parts)) < least - gain &&
            mayBeParts(op, product, loop, parts))
          best = Split{loop, parts, sizes[loop], /*isAcross=*/true}, least = timeOf(double(parts)), gain = 0;
  };
  tryParts(kLeastOfPlaces, 0);
  // Shorter ones, such as single rows of an image whose sizes are primes, where most multiprocessors would be
  // idle: they have to save what is not in the model.
  if (2 * tiles * double(best ? best->parts : 1) < double(kMultiprocessors))
    tryParts(kLeastOfFewPlaces, std::max(kLeastMicrosecondsOfShortParts, kLeastGainOfParts * least));
  return best;
}

/// Of few rows and columns, whose long sum has no such divisor (places of images whose sides are primes): shorter
/// parts, where nearly all multiprocessors would be idle. The sum lies across on both sides, so that parts begin
/// anywhere.
int64_t shortPartsOf(const Contraction &product, unsigned loop, int64_t size, int64_t blocks) {
  constexpr int64_t kLeastOfShortSkinny = 256;
  linalg::GenericOp op = product.op;
  AffineExpr summed = getAffineDimExpr(loop, op.getContext());
  const bool isAlong = llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return map.getNumResults() != 0 && map.getResults().back() == summed;
  });
  if (isAlong || blocks * kMostIdle > kMultiprocessors)
    return 1;
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(size / kLeastOfShortSkinny, 4 * kMultiprocessors / blocks); ++parts)
    if (size % parts == 0)
      best = parts;
  return best;
}

/// Whether the program says into how many parts the blocks of a cluster take the sum.
bool isPinnedToClusters(linalg::GenericOp op) {
  const DictionaryAttr pin = tilePinOf(op);
  return pin && pin.contains("deep");
}

} // namespace

std::optional<ProductSplit> productSplitOf(linalg::GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const std::optional<Contraction> product = productOf(op);
  if (product && (product->isRouted() || op->hasAttr(kGatesAttr) || isPinnedToClusters(op)))
    return ProductSplit{};
  if (!op.hasPureTensorSemantics() || !product || (product->rows.empty() && product->columns.empty()) ||
      llvm::is_contained(sizes, ShapedType::kDynamic) || llvm::is_contained(sizes, 0))
    return std::nullopt;
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return *knownSizeOf(op, loops); };
  const int64_t rows = sizeOf(product->rows), columns = sizeOf(product->columns), batch = sizeOf(product->batch);
  const bool hasCores = isForTensorCores(*product);
  const std::optional<FewRows> skinny = fewRowsOf(*product);
  if (isTreeReduction(op) && !skinny)
    return std::nullopt;
  const unsigned loop =
      *llvm::max_element(product->reduced, [&](unsigned x, unsigned y) { return sizes[x] < sizes[y]; });
  auto tiles = [&](int64_t side, int64_t across) {
    return batch * int64_t(llvm::divideCeil(uint64_t(rows), side) * llvm::divideCeil(uint64_t(columns), across));
  };
  if (!skinny && readsWindows(op) && isOfFilters(op, *product))
    return ProductSplit{placesSplitOf(op, *product)};
  if (!skinny && readsWindows(op))
    return mayRoundForTensorCores(*product) ? ProductSplit{windowSplitsOf(op, *product)}
                                            : ProductSplit{scalarWindowSplitsOf(op, *product)};
  // Of few rows, tiles of 64 columns where these are enough, or where parts are long.
  const bool isNarrow = rows <= kRowsOfWideParts || tiles(64, 64) >= kEnoughProductBlocks ||
                        sizes[loop] * elementBytes(beforeExtension(product->left.value).getType()) > kBytesOfWideParts;
  // Tiles have 128 positions of a side that lies across in tf32 (analysis/products/hopper_tf32.h).
  const bool isAcross =
      mayRoundForTensorCores(*product) && !hasCores && hasHopperTf32(op) && liesAcross(*product, product->right);
  const int64_t blocks = skinny     ? batch * int64_t(llvm::divideCeil(uint64_t(skinny->wideSize), kWideOfBlock))
                         : isAcross ? tiles(64, 128)
                         : hasCores ? (rows <= 64 ? tiles(64, isNarrow ? 64 : 128) : tiles(128, 64))
                                    : tiles(64, 64);
  const int64_t most = sizes[loop] / (skinny     ? kLeastOfSkinny
                                      : hasCores ? kLeastOfProduct
                                      : isAcross ? kLeastOfProduct / 2
                                                 : kLeastOfScalarProduct);
  // Parts are made of the types: each has to say its sizes.
  const bool mayBe =
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }) &&
      llvm::all_of(op->getOperands(), [](Value operand) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        return !type || type.hasStaticShape();
      });
  if (mayBe && !skinny && product->reduced.size() > 1)
    return ProductSplit{placesSplitOf(op, *product)};
  if (const ProductTimes *times = productTimesOf(*product); times && mayBe && !skinny) {
    const std::optional<Split> split = timedSplitOf(op, *product, *times);
    return isDividedByClusters(*product, split, tiles(128, 64)) ? ProductSplit{} : ProductSplit{split};
  }
  if (!skinny && mayBe && isSplitByWarpModel(op, *product))
    return ProductSplit{warpSplitOf(op, *product)};
  if (!skinny && mayBe && mayBeInClusters(*product) && hasCores)
    if (const std::optional<Split> split = clusterSplitOf(op, *product))
      return ProductSplit{split};
  if (!skinny && mayBe && liesAcrossTwice(*product) && product->isSummedByAll(loop))
    return ProductSplit{acrossSplitOf(op, *product)};
  if (!skinny && isForClusters(*product, tiles(64, isAcross ? 128 : 64), most))
    return ProductSplit{};
  if (!skinny && mayBe && !hasCores && isReadIntoRegisters(*product))
    return ProductSplit{registersSplitOf(op, *product)};
  // Of few rows and four bytes, what one block reads at a time keeps no multiprocessor busy.
  const bool isByLanes = skinny && !hasCores && factorTypeOf(product->left.value).isF32();
  const int64_t enough = isByLanes ? kMultiprocessors : skinny ? kEnoughProductBlocks / 2 : kEnoughProductBlocks;
  if (!mayBe || blocks >= enough || most < 2)
    return ProductSplit{};
  // The fewest that are enough: what they leave is written and read again. Rows of parts stay aligned.
  const int64_t wanted = std::min(
      most, int64_t(llvm::divideCeil(uint64_t(isByLanes ? 2 * kMultiprocessors : kEnoughProductBlocks), blocks)));
  const int64_t bytes = std::min(elementBytes(beforeExtension(product->left.value).getType()),
                                 elementBytes(beforeExtension(product->right.value).getType()));
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(most, 2 * wanted) && best < wanted; ++parts)
    if (sizes[loop] % parts == 0 && sizes[loop] / parts * bytes % kAlignment == 0 && sizes[loop] / parts % 8 == 0)
      best = parts;
  if (best == 1 && skinny && !isByLanes)
    best = shortPartsOf(*product, loop, sizes[loop], blocks);
  return best == 1 ? ProductSplit{} : ProductSplit{std::optional(Split{loop, best, sizes[loop], /*isAcross=*/true})};
}

} // namespace tenon::compiler::dispatch
