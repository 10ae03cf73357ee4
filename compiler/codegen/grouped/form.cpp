// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/form.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Results of a block that tensor cores compute; of more, sums take the registers of a second block.
constexpr int64_t kMostPlaces = 128, kMostColumns = 64;
// Of a line of neighbouring channels, of the filters of a block, of all that it keeps.
constexpr int64_t kLineBytes = 128, kMostFilterBytes = 20 << 10, kMostSharedBytes = 48 << 10;
// A model of how long a block takes, in places that it reads: to begin and end, and for a result. Few blocks leave
// multiprocessors without one.
constexpr double kBegin = 32, kResult = 0.75, kEnoughBlocks = 400, kAssumedImages = 32;
// Elements that are read around a row of a patch, where rows are what memory has side by side.
constexpr int64_t kAroundRow = 8, kSector = 16;

const KernelTensor *memoryOf(const KernelOp &op, Value value) {
  for (const KernelBorder &border : op.borders)
    if (border.value == value)
      return &border.tensor;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= op.inputs.size())
    return nullptr;
  const KernelInput &input = op.inputs[argument.getArgNumber()];
  return input.isMemory() ? &input.tensor : nullptr;
}

} // namespace

std::optional<GroupedForm> GroupedForm::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<Product> product = Product::of(kernel, shape);
  if (!product || !product->sum.sum.type.isF32())
    return std::nullopt;
  const std::optional<dispatch::Contraction> contraction = dispatch::contractionOf(product->op->op);
  const std::optional<dispatch::GroupedWindows> found =
      contraction ? dispatch::GroupedWindows::of(*contraction) : std::nullopt;
  if (!found)
    return std::nullopt;
  GroupedForm form;
  if (found->image == &contraction->right)
    product->exchangeSides();
  form.product = std::move(*product);
  const KernelOp &op = *form.product.op;
  form.image = memoryOf(op, form.product.left.value);
  form.filters = memoryOf(op, form.product.right.value);
  if (!form.image || !form.filters)
    return std::nullopt;
  form.hasBorder = found->image->border.has_value();
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
  bool isKnown = true;
  auto axisOf = [&](unsigned loop) { // which has nothing else
    for (auto [number, axis] : llvm::enumerate(shape.axes))
      if (llvm::is_contained(axis.axes, groupAxes[loop])) {
        isKnown &= axis.axes.size() == 1 && axis.size;
        return unsigned(number);
      }
    isKnown = false;
    return 0u;
  };
  auto isAlone = [&](unsigned loop) {
    return llvm::any_of(shape.axes, [&](const auto &axis) {
      return axis.size && axis.axes.size() == 1 && axis.axes.front() == groupAxes[loop];
    });
  };
  form.group = axisOf(found->group);
  form.channel = axisOf(found->channel);
  SmallVector<unsigned> sliding;
  // Images of a known number, which are one loop: a tile may have results of several.
  const AffineMap map = found->map;
  if (!found->outer.empty() && isAlone(found->outer.back()))
    for (auto [dimension, expr] : llvm::enumerate(map.getResults()))
      if (expr == getAffineDimExpr(found->outer.back(), map.getContext())) {
        form.places.push_back({unsigned(dimension), axisOf(found->outer.back()), std::nullopt, 1, 1, 0, 0, 0});
        sliding.push_back(form.places.back().axis);
        form.hasImages = true;
      }
  for (const auto &place : found->places) {
    Place &own = form.places.emplace_back();
    own.dimension = place.dimension;
    own.axis = axisOf(place.loop);
    if (place.window)
      own.window = axisOf(*place.window);
    own.step = place.step, own.apart = place.apart, own.offset = place.offset;
    sliding.push_back(own.axis);
  }
  if (!isKnown)
    return std::nullopt;
  for (Place &place : form.places) {
    place.results = *shape.axes[place.axis].size;
    place.length = place.window ? *shape.axes[*place.window].size : 1;
  }
  for (unsigned axis : form.product.rows)
    if (!llvm::is_contained(sliding, axis))
      form.outer.push_back(axis);
  const std::optional<int64_t> columns = shape.sizeOf(form.product.columns);
  if (!columns || *columns == 0)
    return std::nullopt;
  form.groups = *shape.axes[form.group].size;
  form.channels = *shape.axes[form.channel].size;
  form.columns = *columns;
  form.elementBytes = dispatch::elementBytes(form.image->element);
  return form;
}

int64_t GroupedForm::windowPlaces() const {
  int64_t count = 1;
  for (const Place &place : places)
    count *= place.length;
  return count;
}

bool GroupedForm::isLastInMemory() const {
  const auto last = image->map.getNumResults() - 1;
  linalg::GenericOp op = product.op->op;
  auto isReduced = [&](unsigned dimension) {
    auto loop = dyn_cast<AffineDimExpr>(image->map.getResult(dimension));
    return loop && op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction;
  };
  if (last == 0 || !isReduced(last))
    return false;
  const std::optional<dispatch::Contraction> contraction = dispatch::contractionOf(op);
  auto before = dyn_cast<AffineDimExpr>(image->map.getResult(last - 1));
  return before && contraction && contraction->batch.front() == before.getPosition();
}

GroupedGeometry::GroupedGeometry(const GroupedForm &form, GroupedTile chosen) : tile(std::move(chosen)) {
  const bool isWide = form.elementBytes == 4;
  channels = llvm::alignTo(form.channels, kGroupedQuad);
  columns = llvm::alignTo(form.columns, isWide ? kGroupedQuad : 2 * kGroupedQuad);
  quads = form.windowPlaces() * channels / kGroupedQuad;
  steps = int64_t(llvm::divideCeil(quads, kGroupedQuad));
  filterQuads = isWide ? quads : steps % 2 == 0 ? (steps + 1) * kGroupedQuad : steps * kGroupedQuad;
  lineBytes = int64_t(llvm::alignTo(tile.groups * channels * form.elementBytes, 16)) + 16;
  for (auto [place, side] : llvm::zip_equal(form.places, tile.sides))
    extents.push_back((side - 1) * place.step + (place.length - 1) * place.apart + 1);
  positions = 1;
  for (int64_t extent : extents)
    positions *= extent;
  // Adjacent places and adjacent columns meet different banks, whichever is read.
  sumsOfLine = tile.groups * columns + (form.isLastInMemory() ? 8 : 1);
  patchBytes = positions * lineBytes;
  filterBytes = tile.groups * columns * filterQuads * kGroupedQuad * form.elementBytes;
  sharedBytes = std::max(patchBytes + filterBytes, tile.results() * sumsOfLine * int64_t(sizeof(float)));
}

int64_t GroupedTile::results() const {
  int64_t count = 1;
  for (int64_t side : sides)
    count *= side;
  return count;
}

int64_t GroupedTile::tilesOf(const GroupedForm &form) const {
  auto count = int64_t(llvm::divideCeil(form.groups, groups));
  for (auto [place, side] : llvm::zip_equal(form.places, sides))
    count *= int64_t(llvm::divideCeil(place.results, side));
  return count;
}

std::optional<GroupedTile> GroupedTile::of(const GroupedForm &form) {
  const bool isLast = form.isLastInMemory();
  std::optional<GroupedTile> best;
  double least = 0;
  const size_t rank = form.places.size(), sliding = rank - (form.hasImages ? 1 : 0);
  // Groups that fill a line, a divisor of all of them where one is near.
  GroupedTile tile;
  tile.sides.assign(rank, 1);
  auto fits = [&](int64_t groups) {
    tile.groups = groups;
    const GroupedGeometry geometry(form, tile);
    return groups == 1 ||
           (groups * geometry.columns <= kMostColumns && groups * geometry.channels * form.elementBytes <= kLineBytes &&
            geometry.filterBytes <= kMostFilterBytes);
  };
  int64_t groups = 1;
  for (int64_t count = 2; count <= std::min(form.groups, kMostColumns) && fits(count); ++count)
    if (form.groups % count == 0 || (form.groups % groups != 0 || count > 2 * groups))
      groups = count;
  tile.groups = groups;
  const int64_t high = sliding > 1 ? form.places[rank - 2].results : 1, wide = form.places[rank - 1].results;
  auto tryTile = [&] {
    const GroupedGeometry geometry(form, tile);
    if (geometry.sharedBytes > kMostSharedBytes)
      return;
    const int64_t inRow = geometry.extents.back();
    const double read = isLast
                            ? double(geometry.positions)
                            : double(geometry.positions / inRow) * double(llvm::alignTo(inRow + kAroundRow, kSector));
    // Filters are as many bytes as so many places.
    const double filters = isLast ? double(geometry.filterBytes) / double(geometry.lineBytes) : 0;
    const double each = kBegin + read + filters + kResult * double(llvm::alignTo(tile.results(), 16));
    // Several images share filters where blocks are enough without one for each.
    const auto blocks = double(tile.tilesOf(form)), images = form.hasImages ? double(form.places.front().results) : 1;
    if (form.hasImages && tile.sides.front() > 1 && blocks < kEnoughBlocks)
      return;
    const double cost = each * std::max(blocks / images, kEnoughBlocks / kAssumedImages);
    if (!best || cost < least)
      best = tile, least = cost;
  };
  for (int64_t down = 1; down <= std::min(high, kMostPlaces); ++down)
    for (int64_t across = 1; across <= std::min(wide, kMostPlaces) && down * across <= kMostPlaces; ++across) {
      if (sliding > 1)
        tile.sides[rank - 2] = down;
      tile.sides[rank - 1] = across;
      // Rows of channels that lie apart would be read of each image.
      const int64_t images = form.hasImages && isLast ? form.places.front().results : 1;
      for (int64_t count = 1; count <= std::min(images, kMostPlaces / (down * across)); ++count) {
        if (form.hasImages)
          tile.sides.front() = count;
        tryTile();
      }
    }
  return best;
}

} // namespace tenon::compiler::codegen
