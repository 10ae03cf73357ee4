// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kLeast = 4, kMostChannels = 32, kMostFilters = 64;
// Elements of a line, and of fragments of what tensor cores multiply.
constexpr int64_t kLine = 32, kFragmentFilters = 16, kFragmentChannels = 8;

bool isPowerBetween(int64_t number, int64_t least, int64_t most) {
  return number >= least && number <= most && llvm::isPowerOf2_64(uint64_t(number));
}

} // namespace

int64_t groupsOfLine(int64_t channels, int64_t filters) {
  int64_t groups = 1;
  while (groups * filters < kFragmentFilters || groups * channels < kFragmentChannels)
    groups *= 2;
  while (2 * groups * std::max(channels, filters) <= kLine)
    groups *= 2;
  return groups;
}

std::optional<GroupedFilters> GroupedFilters::of(const Contraction &product) {
  linalg::GenericOp op = product.op;
  const std::optional<FilterSides> sides = FilterSides::of(product);
  Type element = factorTypeOf(product.left.value);
  if (!sides || (!element.isF16() && !element.isBF16()))
    return std::nullopt;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const FilterRead &image = sides->image, &gradient = sides->gradient;
  const ArrayRef<unsigned> ofImage = FilterSides::ownLoops(product, sides->isImageLeft),
                           ofGradient = FilterSides::ownLoops(product, !sides->isImageLeft);
  if (ofGradient.size() != 1)
    return std::nullopt;

  GroupedFilters found;
  found.image = image.tensor;
  found.gradient = gradient.tensor;
  found.imageMap = image.map;
  found.gradientMap = gradient.map;
  found.isImageLeft = sides->isImageLeft;
  found.filter = ofGradient.front();
  // Groups and what they have are neighbouring dimensions of both.
  const auto filterAt =
      gradient.map.getResultPosition(getAffineDimExpr(found.filter, gradient.map.getContext())).value_or(0);
  if (filterAt == 0)
    return std::nullopt;
  found.group = gradient.map.getDimPosition(filterAt - 1);
  const auto groupAt = image.map.getResultPosition(getAffineDimExpr(found.group, image.map.getContext()));
  if (!llvm::is_contained(product.batch, found.group) || !groupAt || *groupAt + 1 == image.map.getNumResults())
    return std::nullopt;
  auto channel = dyn_cast<AffineDimExpr>(image.map.getResult(*groupAt + 1));
  if (!channel || !llvm::is_contained(ofImage, channel.getPosition()))
    return std::nullopt;
  found.groupDimension = *groupAt;
  found.channel = channel.getPosition();
  if (!isPowerBetween(sizes[found.channel], kLeast, kMostChannels) ||
      !isPowerBetween(sizes[found.filter], kLeast, kMostFilters) || sizes[found.group] == 1)
    return std::nullopt;

  SmallVector<unsigned> met = {found.channel};
  for (auto [dimension, expr] : llvm::enumerate(image.map.getResults())) {
    FilterPlace &place = found.places.emplace_back();
    if (dimension == *groupAt || dimension == *groupAt + 1)
      continue;
    std::optional<FilterPlace> read = FilterPlace::of(product, expr, image.map.getNumDims());
    if (!read || llvm::any_of(read->parts, [&](auto &each) { return each.first == found.group; }))
      return std::nullopt;
    place = std::move(*read);
    if (place.window) {
      found.windows.push_back(*place.window);
      met.push_back(*place.window);
    }
    if (place.loop)
      met.push_back(*place.loop);
  }
  // Each loop once.
  llvm::sort(met);
  if (std::adjacent_find(met.begin(), met.end()) != met.end() || found.windows.empty() ||
      met.size() != ofImage.size() + product.reduced.size())
    return std::nullopt;
  for (AffineExpr expr : gradient.map.getResults())
    if (const unsigned loop = cast<AffineDimExpr>(expr).getPosition(); llvm::is_contained(product.reduced, loop))
      found.summed.push_back(loop);
  for (unsigned loop : product.batch)
    if (loop != found.group)
      found.parts.push_back(loop);
  return found;
}

} // namespace tenon::compiler::dispatch
