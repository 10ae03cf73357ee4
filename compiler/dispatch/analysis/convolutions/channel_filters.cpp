// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/channel_filters.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kMostOfWindow = 49;

/// The loop that is the last index of the map; nothing where that is a sum.
std::optional<unsigned> lastLoopOf(AffineMap map) {
  auto last = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() == 0 ? AffineExpr() : map.getResults().back());
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

} // namespace

std::optional<ChannelFilters> ChannelFilters::of(const Contraction &product) {
  linalg::GenericOp op = product.op;
  const std::optional<FilterSides> sides = FilterSides::of(product);
  Type element = factorTypeOf(product.left.value);
  if (!sides || (!element.isF16() && !element.isBF16() && !element.isF32()))
    return std::nullopt;
  const FilterRead &image = sides->image, &gradient = sides->gradient;
  const std::optional<unsigned> channel = lastLoopOf(image.map);
  if (!channel || channel != lastLoopOf(gradient.map) || !llvm::is_contained(product.batch, *channel) ||
      image.map.getNumResults() < 2 || !FilterSides::ownLoops(product, !sides->isImageLeft).empty())
    return std::nullopt;

  ChannelFilters found;
  found.image = image.tensor;
  found.gradient = gradient.tensor;
  found.imageMap = image.map;
  found.gradientMap = gradient.map;
  found.isImageLeft = sides->isImageLeft;
  found.channel = *channel;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> met;
  int64_t window = 1;
  for (AffineExpr expr : image.map.getResults().drop_back()) {
    std::optional<FilterPlace> place = FilterPlace::of(product, expr, image.map.getNumDims());
    if (!place || llvm::any_of(place->parts, [&](auto &each) { return each.first == *channel; }))
      return std::nullopt;
    if (place->window) {
      // Only the last two slide.
      if (found.places.size() + 3 < image.map.getNumResults())
        return std::nullopt;
      window *= sizes[*place->window];
      met.push_back(*place->window);
    }
    if (place->loop)
      met.push_back(*place->loop);
    found.places.push_back(std::move(*place));
  }
  found.places.emplace_back();
  // Each loop once.
  llvm::sort(met);
  if (std::adjacent_find(met.begin(), met.end()) != met.end() || !found.places[found.along()].loop ||
      met.size() != FilterSides::ownLoops(product, sides->isImageLeft).size() + product.reduced.size())
    return std::nullopt;
  int64_t places = 1; // of the gradient: of filters it would be those of a window
  for (AffineExpr expr : gradient.map.getResults().drop_back()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    places *= sizes[loop];
    if (llvm::is_contained(product.reduced, loop))
      found.summed.push_back(loop);
  }
  for (unsigned loop : product.batch)
    if (loop != found.channel)
      found.parts.push_back(loop);
  const bool isOfFilters = window > 1 && window <= kMostOfWindow && places > window;
  return isOfFilters ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace tenon::compiler::dispatch
