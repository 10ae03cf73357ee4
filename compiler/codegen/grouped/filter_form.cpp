// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/filter_form.h"

#include "compiler/codegen/grouped/filter_operands.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kElementBytes = 2, kFragmentFilters = 16, kFragmentChannels = 8;
// Places of a window whose sums a warp has registers for.
constexpr int64_t kMostPlacesOfWarp = 13;
// Two blocks of a multiprocessor have registers, and shared memory without asking for more.
constexpr int64_t kMostSharedBytes = 48 << 10, kMostPlaces = 128;
// A model of how long a tile takes, in lines that are read: to begin and end, and for 16 places.
constexpr double kBegin = 48, kStep = 8;

} // namespace

std::optional<GroupedFilterForm> GroupedFilterForm::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ImageProduct<dispatch::GroupedFilters>> found =
      ImageProduct<dispatch::GroupedFilters>::of(kernel, shape);
  const std::optional<KernelTensor> gradient = found ? found->gradient(kernel) : std::nullopt;
  if (!gradient || found->image.shape[found->loops.groupDimension + 1].size != // neighbours of neighbouring groups
                       found->sizes[found->loops.channel])
    return std::nullopt;
  GroupedFilterForm form{std::move(found->loops), std::move(found->product), found->image, *gradient,
                         std::move(found->sizes)};
  form.groups = form.sizes[form.loops.group];
  form.channels = form.sizes[form.loops.channel];
  form.filters = form.sizes[form.loops.filter];
  form.lineGroups = dispatch::groupsOfLine(form.channels, form.filters);
  return FilterUnits(form).fit() ? std::optional(std::move(form)) : std::nullopt;
}

int64_t GroupedFilterForm::windowPlaces() const {
  int64_t count = 1;
  for (unsigned loop : loops.windows)
    count *= sizes[loop];
  return count;
}

int64_t GroupedFilterForm::parts() const {
  int64_t count = 1;
  for (unsigned loop : loops.parts)
    count *= sizes[loop];
  return count;
}

bool GroupedFilterForm::isLastInMemory(const KernelTensor &tensor) const {
  auto last = dyn_cast<AffineDimExpr>(tensor.map.getResults().back());
  return last && (last.getPosition() == loops.channel || last.getPosition() == loops.filter);
}

FilterUnits::FilterUnits(const GroupedFilterForm &form) {
  blocks = form.lineGroups * form.filters / kFragmentFilters;
  const int64_t groups = std::max<int64_t>(1, kFragmentFilters / form.filters);
  fragments = std::max<int64_t>(1, groups * form.channels / kFragmentChannels);
  pairs = int64_t(llvm::divideCeil(fragments, 2));
  const int64_t window = form.windowPlaces();
  chunks = std::clamp<int64_t>(kFilterWarps / (blocks * pairs), 1, window);
  places = int64_t(llvm::divideCeil(window, chunks));
  chunks = int64_t(llvm::divideCeil(window, places));
}

bool FilterUnits::fit() const {
  return count() <= kFilterWarps && places <= kMostPlacesOfWarp;
}

FilterTile::FilterTile(const GroupedFilterForm &form, ArrayRef<int64_t> given) : sides(given) {
  places = 1;
  for (int64_t side : sides)
    places *= side;
  positions = 1;
  for (const auto &place : form.loops.places) {
    int64_t extent = 1;
    if (place.loop)
      extent += (sides[llvm::find(form.loops.summed, *place.loop) - form.loops.summed.begin()] - 1) * place.step;
    if (place.window)
      extent += (form.sizes[*place.window] - 1) * place.apart;
    extents.push_back(extent);
    positions *= extent;
  }
  // Lines behind each other begin in other banks.
  imageLine = form.lineGroups * form.channels * kElementBytes + 16;
  gradientLine = form.lineGroups * form.filters * kElementBytes + 16;
}

int64_t FilterTile::tilesOf(const GroupedFilterForm &form) const {
  int64_t count = 1;
  for (auto [loop, side] : llvm::zip_equal(form.loops.summed, sides))
    count *= int64_t(llvm::divideCeil(form.sizes[loop], side));
  return count;
}

std::optional<FilterTile> FilterTile::of(const GroupedFilterForm &form) {
  std::optional<FilterTile> best;
  double least = 0;
  SmallVector<int64_t> sides(form.loops.summed.size(), 1);
  auto consider = [&] {
    FilterTile tile(form, sides);
    if (tile.places > kMostPlaces || tile.sharedBytes() > kMostSharedBytes)
      return false;
    const double each = kBegin + double(tile.positions + tile.places) + kStep * double(tile.wholePlaces()) / 16;
    const double cost = each * double(tile.tilesOf(form));
    if (!best || cost < least)
      best = tile, least = cost;
    return true;
  };
  // Sides from the last one on.
  auto choose = [&](auto &&self, size_t number) -> void {
    if (number == 0)
      return;
    const size_t own = number - 1;
    for (int64_t side = 1; side <= std::min(form.sizes[form.loops.summed[own]], kMostPlaces); ++side) {
      sides[own] = side;
      if (!consider())
        break;
      self(self, own);
    }
    sides[own] = 1;
  };
  consider();
  choose(choose, sides.size());
  return best;
}

} // namespace tenon::compiler::codegen
