// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/window_splits.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/splits/filter_splits.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;
// On tensor cores: rows of a window, and what is worth a part; bytes that a part has of each row of a side.
constexpr int64_t kMostWindowRows = 4, kLeastOfWindowRow = 1024, kLeastBytesOfPart = 512;
// Of exact f32: what a part sums at the least, of few parts and of many.
constexpr int64_t kLeastOfPart = 512, kLeastOfShortPart = 128;
// What parts save at the least, where these bounds were not found by races of many shapes.
constexpr double kLeastMicroseconds = 1, kLeastMicrosecondsOfScalars = 3, kLeastGain = 0.1;
// How long a multiprocessor takes for a reduced element of a tile of 128 x 128 without tensor cores, and until the next
// tile begins; a second kernel, and how fast it adds parts that the second-level cache still has (product_splits.cpp).
constexpr double kMicrosecondsOfScalar = 355.0 / 4096, kMicrosecondsOfPart = 0.5, kMicrosecondsOfSum = 3,
                 kBytesInMicrosecond = 3e6;
/// Those of the loops that stand in sums of several: along which windows slide, and not channels or filters.
SmallVector<unsigned> slidingLoops(linalg::GenericOp op, const Contraction &product, ArrayRef<unsigned> among) {
  SmallVector<AffineMap> reads = op.getIndexingMapsArray();
  for (const ContractionSide *side : {&product.left, &product.right})
    if (side->border)
      reads.push_back(side->border->map);
  SmallVector<unsigned> loops;
  for (unsigned loop : among)
    if (llvm::any_of(reads, [&](AffineMap map) {
          return llvm::any_of(map.getResults(),
                              [&](AffineExpr expr) { return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop); });
        }))
      loops.push_back(loop);
  return loops;
}

SmallVector<unsigned> windowLoopsOf(linalg::GenericOp op, const Contraction &product) {
  return slidingLoops(op, product, product.reduced);
}

/// Whether such parts would be taken for groups of few channels (analysis/convolutions/grouped.h), which tiles do not
/// compute.
bool wouldBeGroups(linalg::GenericOp op, const Contraction &product, const Split &split) {
  constexpr int64_t kMostChannels = 32, kMostFilters = 64, kMostReduced = 512;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<unsigned> window = windowLoopsOf(op, product);
  int64_t channels = 1;
  for (unsigned loop : product.reduced)
    if (!llvm::is_contained(window, loop))
      channels *= loop == split.loop ? sizes[loop] / split.parts : sizes[loop];
  const bool isImageLeft = !slidingLoops(op, product, product.rows).empty();
  return channels <= kMostChannels && *knownSizeOf(op, isImageLeft ? product.columns : product.rows) <= kMostFilters &&
         *knownSizeOf(op, product.reduced) / split.parts <= kMostReduced;
}

/// The places of two of these as parts.
SmallVector<SmallVector<Split>> pairsOfWindow(linalg::GenericOp op, const Contraction &product) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  for (unsigned loop : windowLoopsOf(op, product))
    if (product.isSummedByAll(loop) && sizes[loop] > 1)
      loops.push_back(loop);
  SmallVector<SmallVector<Split>> pairs;
  for (auto [number, first] : llvm::enumerate(loops))
    for (unsigned second : ArrayRef(loops).drop_front(number + 1))
      pairs.push_back({Split{first, sizes[first], sizes[first], /*isAcross=*/true},
                       Split{second, sizes[second], sizes[second], /*isAcross=*/true}});
  return pairs;
}

} // namespace

SmallVector<Split> windowSplitsOf(linalg::GenericOp op, const Contraction &product) {
  // Tiles, and how long a step of 128 bytes takes (as codegen/strategies/products/plans/tiles/contraction_tiles
  // measured it; of patches of an image the smallest take as long as the next).
  struct Tile {
    double rows, columns, microseconds;
  };
  constexpr Tile kTiles[] = {{64, 64, 0.22}, {64, 128, 0.22}, {128, 128, 0.425}, {128, 192, 0.54}, {128, 256, 0.705}};
  constexpr double kStepBytes = 128;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (product.reduced.size() < 2)
    return {};
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(op, loops)); };
  const double rows = sizeOf(product.rows), columns = sizeOf(product.columns), batch = sizeOf(product.batch);
  const int64_t reduced = *knownSizeOf(op, product.reduced);
  const int64_t bytes = elementBytes(beforeExtension(product.left.value).getType());
  const double steps = double(reduced * bytes) / kStepBytes;
  auto timeOf = [&](double parts) {
    double least = HUGE_VAL;
    for (const Tile &tile : kTiles) {
      const double tiles = batch * std::ceil(rows / tile.rows) * std::ceil(columns / tile.columns) * parts;
      const double rounds = std::ceil(tiles / double(kMultiprocessors));
      least = std::min(least, rounds * (steps / parts * tile.microseconds + kMicrosecondsOfPart));
    }
    // The kernel that adds them up is launched meanwhile.
    const double written = parts * batch * rows * columns * 2 * sizeof(float);
    return least + (parts > 1 ? written / kBytesInMicrosecond : 0);
  };
  SmallVector<Split> best;
  double least = timeOf(1);
  auto take = [&](ArrayRef<Split> splits, double gain) {
    int64_t parts = 1;
    for (const Split &each : splits)
      parts *= each.parts;
    const double taken = timeOf(double(parts));
    if (reduced / parts * bytes >= kLeastBytesOfPart && taken < least - gain)
      best.assign(splits.begin(), splits.end()), least = taken;
  };
  auto wholeOf = [&](unsigned loop) { return Split{loop, sizes[loop], sizes[loop], /*isAcross=*/true}; };
  auto mayBeAlone = [&](unsigned loop) { return product.isSummedByAll(loop) && sizes[loop] > 1; };
  for (unsigned loop : product.reduced)
    if (best.empty() && mayBeAlone(loop) && sizes[loop] <= kMostWindowRows &&
        reduced / sizes[loop] >= kLeastOfWindowRow)
      take(wholeOf(loop), 0);
  // Others have to save what is not in the model.
  const double gain = std::max(kLeastMicroseconds, kLeastGain * least);
  for (unsigned loop : windowLoopsOf(op, product))
    if (mayBeAlone(loop) && !wouldBeGroups(op, product, wholeOf(loop)))
      take(wholeOf(loop), gain);
  for (const SmallVector<Split> &each : pairsOfWindow(op, product))
    take(each, gain);
  return best;
}

SmallVector<Split> scalarWindowSplitsOf(linalg::GenericOp op, const Contraction &product) {
  constexpr double kTileRows = 128, kTileColumns = 64, kMicroseconds = kMicrosecondsOfScalar / 2;
  constexpr double kOfOne = 1.5, kOfTwo = 1.1; // so much longer, of tiles that a multiprocessor has at a time
  constexpr int64_t kFewParts = 4, kMostParts = 64;
  if (!factorTypeOf(product.left.value).isF32() || !factorTypeOf(product.right.value).isF32())
    return {};
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(op, loops)); };
  const double rows = sizeOf(product.rows), columns = sizeOf(product.columns), batch = sizeOf(product.batch);
  const double reduced = sizeOf(product.reduced);
  auto timeOf = [&](double parts) {
    const double each = std::ceil(batch * std::ceil(rows / kTileRows) * std::ceil(columns / kTileColumns) * parts /
                                  double(kMultiprocessors)); // tiles of a multiprocessor
    const double waiting = each == 1 ? kOfOne : each == 2 ? kOfTwo : 1;
    const double bytes = parts * batch * rows * columns * 2 * sizeof(float);
    const double adding = parts > 1 ? kMicrosecondsOfSum + bytes / kBytesInMicrosecond : 0;
    return each * waiting * reduced / parts * kMicroseconds + adding;
  };
  SmallVector<Split> best;
  double least = timeOf(1);
  auto tryParts = [&](int64_t most, int64_t leastReduced, double longest) {
    for (unsigned loop : product.reduced)
      for (int64_t parts = 2; parts <= std::min(sizes[loop], most); ++parts) {
        const Split split{loop, parts, sizes[loop], /*isAcross=*/true};
        if (reduced / double(parts) >= double(leastReduced) && timeOf(double(parts)) < std::min(least, longest) &&
            product.isSummedByAll(loop) && (split.isWhole() || mayBeParts(op, product, loop, parts)) &&
            (most == kFewParts || !wouldBeGroups(op, product, split)))
          best = {split}, least = timeOf(double(parts));
      }
  };
  tryParts(kFewParts, kLeastOfPart, HUGE_VAL);
  // More parts have to save what is not in the model.
  const double longest = least - std::max(kLeastMicrosecondsOfScalars, kLeastGain * least);
  tryParts(kMostParts, kLeastOfShortPart, longest);
  for (const SmallVector<Split> &each : pairsOfWindow(op, product)) {
    const auto parts = double(each[0].parts * each[1].parts);
    if (parts <= double(kMostParts) && reduced / parts >= double(kLeastOfShortPart) &&
        timeOf(parts) < std::min(least, longest))
      best = each, least = timeOf(parts);
  }
  return best;
}

} // namespace tenon::compiler::dispatch
