// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/grouped.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Channels and filters of a group. Groups of more fill the tiles of matrix products.
constexpr int64_t kMostChannels = 32, kMostFilters = 64;
// Places of a window times channels: what is brought for each filter.
constexpr int64_t kMostReduced = 512;

struct Side {
  AffineMap map;
  RankedTensorType type;
};

/// What the side is read from, where it is an element in memory.
std::optional<Side> elementOf(const ContractionSide &side, linalg::GenericOp op) {
  if (side.border)
    return Side{side.border->map, cast<RankedTensorType>(side.border->image.getType())};
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  if (!argument || argument.getOwner() != op.getBody() || int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  return type ? std::optional(Side{op.getMatchingIndexingMap(operand), type}) : std::nullopt;
}

bool isReduction(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

/// How an index of the image slides; nothing where it is no sum of one loop of the results and one of the window.
std::optional<GroupedWindows::Place> placeOf(linalg::GenericOp op, AffineExpr expr, AffineMap map, unsigned dimension) {
  const std::optional<LinearExpr> linear = LinearExpr::of(expr, map.getNumDims());
  if (!linear)
    return std::nullopt;
  GroupedWindows::Place place;
  place.dimension = dimension;
  place.offset = linear->offset;
  bool isAlong = false;
  for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
    if (factor == 0)
      continue;
    const bool isSummed = isReduction(op, loop);
    if (factor < 0 || (isSummed ? place.window.has_value() : isAlong))
      return std::nullopt;
    if (isSummed) {
      place.window = loop;
      place.apart = factor;
    } else {
      isAlong = true;
      place.loop = loop;
      place.step = factor;
    }
  }
  return isAlong ? std::optional(place) : std::nullopt;
}

} // namespace

std::optional<GroupedWindows> GroupedWindows::of(const Contraction &product) {
  linalg::GenericOp op = product.op;
  if (product.batch.size() != 1 || !product.places.empty() || product.combiner != Combiner::AddF)
    return std::nullopt;
  GroupedWindows found;
  found.group = product.batch.front();
  std::optional<Side> image, filters;
  for (const ContractionSide *side : {&product.left, &product.right}) {
    const std::optional<Side> read = elementOf(*side, op);
    Type element = factorTypeOf(side->value);
    if (!read || (!element.isF16() && !element.isBF16() && !element.isF32()))
      return std::nullopt;
    if (!side->border && read->map.isProjectedPermutation()) {
      filters = read;
      found.filters = side;
    } else {
      image = read;
      found.image = side;
    }
  }
  if (!image || !filters || !filters->type.hasStaticShape() ||
      factorTypeOf(found.image->value) != factorTypeOf(found.filters->value))
    return std::nullopt;
  for (int64_t size : image->type.getShape().drop_front())
    if (ShapedType::isDynamic(size))
      return std::nullopt;
  const bool isLeft = found.image == &product.left;
  found.map = image->map;
  llvm::append_range(found.columns, isLeft ? product.columns : product.rows);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> met;
  std::optional<unsigned> channel;
  bool slides = false;
  for (auto [dimension, expr] : llvm::enumerate(image->map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (loop && isReduction(op, loop.getPosition())) {
      if (channel)
        return std::nullopt;
      channel = loop.getPosition();
      met.push_back(*channel);
    } else if (loop) {
      met.push_back(loop.getPosition());
      if (loop.getPosition() != found.group)
        found.outer.push_back(loop.getPosition());
    } else {
      std::optional<Place> place = placeOf(op, expr, image->map, dimension);
      if (!place || place->loop == found.group || ShapedType::isDynamic(sizes[place->loop]) ||
          ShapedType::isDynamic(image->type.getDimSize(dimension)))
        return std::nullopt;
      met.push_back(place->loop);
      if (place->window) {
        met.push_back(*place->window);
        slides = true;
      }
      found.places.push_back(*place);
    }
  }
  // A window of one is a product of matrices.
  if (!channel || !slides || found.columns.empty())
    return std::nullopt;
  found.channel = *channel;
  // Each loop once; what only the filters have is summed nowhere else.
  llvm::sort(met);
  if (std::adjacent_find(met.begin(), met.end()) != met.end() ||
      llvm::any_of(product.reduced, [&](unsigned loop) { return !llvm::is_contained(met, loop); }) ||
      llvm::any_of(isLeft ? product.rows : product.columns,
                   [&](unsigned loop) { return !llvm::is_contained(met, loop); }))
    return std::nullopt;
  const std::optional<int64_t> columns = knownSizeOf(op, found.columns), reduced = knownSizeOf(op, product.reduced);
  const int64_t groups = sizes[found.group], channels = sizes[found.channel];
  if (!columns || !reduced || ShapedType::isDynamic(groups) || groups == 1 || channels > kMostChannels ||
      *columns > kMostFilters || *reduced > kMostReduced)
    return std::nullopt;
  return found;
}

} // namespace tenon::compiler::dispatch
