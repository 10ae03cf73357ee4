// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/filter_splits.h"

#include "compiler/dispatch/analysis/convolutions/channel_filters.h"
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/splits/known_split.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kLineBytes = 128;

/// How the operands of a product are read.
SmallVector<AffineMap> readsOf(linalg::GenericOp op, const Contraction &product) {
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(op.getMatchingIndexingMap(input));
  for (const ContractionSide *side : {&product.left, &product.right})
    if (side->border)
      maps.push_back(side->border->map);
  return maps;
}

/// How many parts: of those that may be, fewest first, where so many units are there without.
using Pick = std::function<int64_t(ArrayRef<int64_t> counts, int64_t units)>;

/// The fewest that make enough units, or the most.
Pick firstOf(int64_t enough) {
  return [enough](ArrayRef<int64_t> counts, int64_t units) {
    const auto *found = llvm::find_if(counts, [&](int64_t count) { return units * count >= enough; });
    return found == counts.end() ? counts.back() : *found;
  };
}

/// Those that make nearly as many units as are wanted.
Pick nearestTo(int64_t wanted) {
  return [wanted](ArrayRef<int64_t> counts, int64_t units) {
    auto distance = [&](int64_t count) {
      return double(std::max(units * count, wanted)) / double(std::min(units * count, wanted));
    };
    return *llvm::min_element(counts, [&](int64_t x, int64_t y) { return distance(x) < distance(y); });
  };
}

/// Makes parts of images, and then of rows.
/// @param units of what is computed at once where the sum is whole @param least reduced elements of a part
void splitPlaces(linalg::GenericOp op, Contraction product, int64_t units, int64_t least, const Pick &pick) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t reduced = *knownSizeOf(op, product.reduced);
  linalg::GenericOp outer; // adds up the parts of a loop before
  const SmallVector<unsigned> loops = llvm::to_vector(product.reduced);
  for (unsigned loop : loops) {
    const int64_t size = sizes[loop];
    SmallVector<int64_t> counts = {1};
    for (int64_t count = 2; count <= size; ++count)
      if (size % count == 0 && reduced / count >= least && mayBeParts(op, product, loop, count))
        counts.push_back(count);
    const int64_t parts = pick(counts, units);
    if (parts == 1)
      continue;
    const std::optional<SplitSum> sum = splitKnown(op, Split{loop, parts, size, /*isAcross=*/true});
    if (!sum)
      break;
    units *= parts;
    reduced /= parts;
    op = sum->partial.getDefiningOp<linalg::GenericOp>();
    if (outer)
      mergeSums(outer, op);
    outer = op && op->hasOneUse() ? dyn_cast<linalg::GenericOp>(*op->user_begin()) : linalg::GenericOp();
    // Where a loop became two, the others have other numbers; rows of all images are enough.
    std::optional<Contraction> next = op && parts == size ? productOf(op) : std::nullopt;
    if (!next)
      break;
    product = *next;
  }
}

/// Sums over the places of images that no product computes, such as the gradient by filters of a convolution of each
/// channel for itself: a thread has a few results, of which there are so few that parts are made.
/// @return whether it is such
bool splitWindowsOverPlaces(linalg::GenericOp op) {
  constexpr int64_t kEnoughResults = 1 << 19, kEnoughOfTiles = 1 << 20, kLeastOfPart = 64, kTile = 9;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<Contraction> product = isWindow(op) ? productOf(op) : std::nullopt;
  if (!op.hasPureTensorSemantics() || !product || llvm::is_contained(sizes, ShapedType::kDynamic) ||
      llvm::is_contained(sizes, 0) || !readsWindows(op) || !isOfFilters(op, *product))
    return false;
  int64_t results = 1;
  for (auto [size, type] : llvm::zip_equal(sizes, op.getIteratorTypesArray()))
    results *= type == utils::IteratorType::parallel ? size : 1;
  // The results of a small window are one thread's, where channels lie last: it takes more parts, if there are as many.
  const SmallVector<AffineMap> reads = readsOf(op, *product);
  auto isOfWindow = [&](unsigned loop) {
    return llvm::any_of(reads, [&](AffineMap map) {
      return llvm::any_of(map.getResults(),
                          [&](AffineExpr expr) { return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop); });
    });
  };
  int64_t window = 1;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    window *= type == utils::IteratorType::parallel && isOfWindow(loop) ? sizes[loop] : 1;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto last =
      dyn_cast_or_null<AffineDimExpr>(written.getNumResults() == 0 ? AffineExpr() : written.getResults().back());
  const bool hasTiles = last && !isOfWindow(last.getPosition()) && window <= kTile &&
                        *knownSizeOf(op, product->reduced) / kLeastOfPart * results >= kEnoughOfTiles;
  splitPlaces(op, *product, results, kLeastOfPart, firstOf(hasTiles ? kEnoughOfTiles : kEnoughResults));
  return true;
}

/// The same in groups whose kernel has the results of a line of them in each block (codegen/grouped/filter_sums.h).
bool splitGroupedFilters(linalg::GenericOp op) {
  // Two blocks for each multiprocessor, where what parts leave is no more than this; else one.
  constexpr int64_t kEnoughBlocks = 256, kMostOfParts = 10 << 20, kLeastOfPart = 128;
  const std::optional<Contraction> product = op.hasPureTensorSemantics() ? productOf(op) : std::nullopt;
  const std::optional<GroupedFilters> found = product ? GroupedFilters::of(*product) : std::nullopt;
  if (!found || !isOfFilters(op, *product))
    return false;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const int64_t results =
      *knownSizeOf(op, product->batch) * *knownSizeOf(op, product->rows) * *knownSizeOf(op, product->columns);
  const auto blocks =
      int64_t(llvm::divideCeil(sizes[found->group], groupsOfLine(sizes[found->channel], sizes[found->filter])));
  const bool isSmall = kEnoughBlocks / blocks * results * int64_t(sizeof(float)) <= kMostOfParts;
  splitPlaces(op, *product, blocks, kLeastOfPart, firstOf(isSmall ? kEnoughBlocks : kEnoughBlocks / 2));
  return true;
}

/// The same of channels for themselves that lie last, whose kernel has all results of some of them in each block
/// (codegen/grouped/channel_sums.h).
bool splitChannelFilters(linalg::GenericOp op) {
  // Two blocks for each multiprocessor, of so many channels each.
  constexpr int64_t kWantedBlocks = 264, kChannelsOfBlock = 64, kLeastOfPart = 32;
  const std::optional<Contraction> product = op.hasPureTensorSemantics() ? productOf(op) : std::nullopt;
  const std::optional<ChannelFilters> found = product ? ChannelFilters::of(*product) : std::nullopt;
  if (!found || !isOfFilters(op, *product))
    return false;
  const int64_t channels = op.getStaticLoopRanges()[found->channel];
  splitPlaces(op, *product, int64_t(llvm::divideCeil(channels, kChannelsOfBlock)), kLeastOfPart,
              nearestTo(kWantedBlocks));
  return true;
}

} // namespace

bool isOfFilters(linalg::GenericOp op, const Contraction &product) {
  return llvm::any_of(readsOf(op, product), [&](AffineMap map) { return sumsOverPlaces(op, map); });
}

bool mayBeParts(linalg::GenericOp op, const Contraction &product, unsigned loop, int64_t parts) {
  const int64_t length = op.getStaticLoopRanges()[loop];
  const int64_t bytes = elementBytes(beforeExtension(product.left.value).getType());
  const bool isLine = length / parts * bytes % kLineBytes == 0;
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const bool isPlain = llvm::any_of(
      maps, [&](AffineMap map) { return map.getResultPosition(getAffineDimExpr(loop, op.getContext())).has_value(); });
  auto isLast = [&](AffineMap map) {
    return map.getNumResults() != 0 && map.getResults().back().isFunctionOfDim(loop);
  };
  return product.isSummedByAll(loop) && length % parts == 0 && isPlain &&
         (isLine || llvm::none_of(readsOf(op, product), isLast));
}

bool splitFilterGradient(linalg::GenericOp op) {
  return splitGroupedFilters(op) || splitChannelFilters(op) || splitWindowsOverPlaces(op);
}

} // namespace tenon::compiler::dispatch
