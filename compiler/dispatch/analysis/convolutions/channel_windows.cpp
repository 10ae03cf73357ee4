// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/channel_windows.h"

#include "compiler/dispatch/analysis/convolutions/filter_places.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Nothing where the index is no sum of one loop of the results, up to one of the window, and a number.
std::optional<ChannelWindows::Place> placeOf(linalg::GenericOp op, AffineExpr index, unsigned dimensions) {
  const std::optional<LinearExpr> linear = LinearExpr::of(index, dimensions);
  if (!linear)
    return std::nullopt;
  ChannelWindows::Place place{};
  place.offset = linear->offset;
  bool isAlong = false;
  for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
    if (factor == 0)
      continue;
    const bool isSummed = op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    if (isSummed ? place.window.has_value() : isAlong || factor < 0)
      return std::nullopt;
    if (isSummed) {
      place.window = unsigned(loop);
      place.apart = std::abs(factor);
      place.isBackwards = factor < 0;
      if (place.isBackwards)
        place.offset += factor * (op.getStaticLoopRanges()[loop] - 1);
    } else {
      isAlong = true;
      place.loop = unsigned(loop);
      place.step = factor;
    }
  }
  return isAlong ? std::optional(place) : std::nullopt;
}

} // namespace

std::optional<ChannelWindows> ChannelWindows::of(const Contraction &product) {
  linalg::GenericOp op = product.op;
  const std::optional<FilterSides> sides = FilterSides::of(product, /*mayCountImages=*/true);
  Type element = factorTypeOf(product.left.value);
  if (!sides || (!element.isF16() && !element.isBF16()) || product.batch.size() != 1 || !product.places.empty())
    return std::nullopt;
  const AffineMap map = sides->image.map;
  const unsigned rank = map.getNumResults();
  auto last = dyn_cast_or_null<AffineDimExpr>(rank < 2 ? AffineExpr() : map.getResult(rank - 1));
  if (!last || last.getPosition() != product.batch.front() ||
      !FilterSides::ownLoops(product, !sides->isImageLeft).empty())
    return std::nullopt;
  ChannelWindows found;
  found.image = sides->image.tensor;
  found.imageMap = map;
  found.isImageLeft = sides->isImageLeft;
  found.channel = product.batch.front();
  SmallVector<unsigned> met{found.channel};
  for (unsigned dimension = 0; dimension + 1 < rank; ++dimension) {
    const std::optional<Place> place = placeOf(op, map.getResult(dimension), map.getNumDims());
    if (!place)
      return std::nullopt;
    met.push_back(place->loop);
    if (place->window)
      met.push_back(*place->window);
    const bool isPlain = isa<AffineDimExpr>(map.getResult(dimension));
    if (dimension + 2 == rank)
      found.along = *place;
    else if (dimension + 3 == rank && !isPlain)
      found.down = place;
    else if (isPlain)
      found.outer.push_back(place->loop);
    else
      return std::nullopt;
  }
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (ShapedType::isDynamic(size) && (found.outer.empty() || loop != found.outer.front() ||
                                        map.getResult(0) != getAffineDimExpr(unsigned(loop), op.getContext())))
      return std::nullopt;
  // Each loop once, and results whose channels lie last, too.
  llvm::sort(met);
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  const bool isLast = written.isProjectedPermutation() && written.getNumResults() != 0 &&
                      written.getResults().back() == getAffineDimExpr(found.channel, op.getContext());
  if (std::adjacent_find(met.begin(), met.end()) != met.end() || met.size() != op.getNumLoops() || !isLast)
    return std::nullopt;
  return found;
}

} // namespace tenon::compiler::dispatch
