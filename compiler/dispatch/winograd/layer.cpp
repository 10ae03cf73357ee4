// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/layer.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kLeastWindow = 3, kMostWindow = 5;

/// A place along an image: a loop of the result and one of the other factor, or a single loop.
struct Place {
  unsigned loop = 0;
  std::optional<unsigned> tap;
  int64_t factor = 1; // of the tap
  int64_t offset = 0;
};

class LayerReader {
public:
  explicit LayerReader(const Convolution &convolution)
      : convolution_(convolution), op_(convolution.op), sizes_(op_.getStaticLoopRanges()),
        other_(op_.getMatchingIndexingMap(convolution.filters)), out_(op_.getIndexingMapsArray().back()) {}

  std::optional<WindowLayer> read();

private:
  bool isExact() const;
  bool readBorder();
  std::optional<Place> placeOf(AffineExpr expr) const;
  bool isIn(AffineMap map, unsigned loop) const { return positionIn(map, loop).has_value(); }
  std::optional<unsigned> positionIn(AffineMap map, unsigned loop) const {
    return map.getResultPosition(getAffineDimExpr(loop, out_.getContext()));
  }
  bool readImage();
  bool readWindow(unsigned down, unsigned across);
  std::optional<unsigned> readDimensions();
  bool readForward();
  bool readOfFilters();

  const Convolution &convolution_;
  linalg::GenericOp op_;
  const SmallVector<int64_t> sizes_;
  const AffineMap other_, out_;
  SmallVector<int64_t, 4> offsets_; // of the border
  std::array<Place, 2> window_;
  unsigned summed_ = 0, kept_ = 0; // the image's other two loops
  std::array<unsigned, 2> windowDimensions_;
  unsigned summedDimension_ = 0, keptDimension_ = 0;
  WindowLayer layer_;
};

/// Sums of products of two f32, from zero.
bool LayerReader::isExact() const {
  const std::optional<Contraction> product = contractionOf(op_);
  linalg::GenericOp op = op_;
  auto start = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return product && product->combiner == Combiner::AddF && product->places.empty() && !product->isRouted() &&
         factorTypeOf(product->left.value).isF32() && factorTypeOf(product->right.value).isF32() &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF32() && start &&
         matchPattern(start.getInputs()[0], m_AnyZeroFloat()) && other_.isProjectedPermutation() &&
         out_.isProjectedPermutation() && other_.getNumResults() == 4 && out_.getNumResults() == 4;
}

/// Zeros around the image are not read from memory.
bool LayerReader::readBorder() {
  layer_.image = convolution_.image->get();
  layer_.other = convolution_.filters->get();
  auto type = dyn_cast<RankedTensorType>(layer_.image.getType());
  if (!type || type.getRank() != 4)
    return false;
  offsets_.assign(4, 0);
  auto border = layer_.image.getDefiningOp<linalg::GenericOp>();
  if (!border || border.getNumDpsInputs() != 0 || border->getNumResults() != 1 ||
      !border.getIndexingMapsArray().front().isIdentity())
    return true;
  const std::optional<Border> found = borderOf(border.getBody()->getTerminator()->getOperand(0), border);
  if (!found)
    return true;
  SmallVector<int64_t, 4> offsets;
  for (auto [dimension, expr] : llvm::enumerate(found->map.getResults())) {
    const std::optional<LinearExpr> linear = LinearExpr::of(expr, found->map.getNumDims());
    if (!linear)
      return true;
    for (auto [loop, factor] : llvm::enumerate(linear->factors))
      if (factor != (loop == dimension ? 1 : 0))
        return true; // of another order of dimensions: it is read with its border
    offsets.push_back(linear->offset);
  }
  if (offsets.size() != offsets_.size())
    return true;
  offsets_ = offsets;
  layer_.image = found->image;
  return true;
}

std::optional<Place> LayerReader::placeOf(AffineExpr expr) const {
  const std::optional<LinearExpr> linear = LinearExpr::of(expr, sizes_.size());
  if (!linear)
    return std::nullopt;
  Place place;
  place.offset = linear->offset;
  bool hasLoop = false;
  for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
    if (factor == 0)
      continue;
    const bool isTap = isIn(other_, loop) && !isIn(out_, loop), isOut = isIn(out_, loop) && !isIn(other_, loop);
    if (isTap && llvm::count_if(linear->factors, [](int64_t each) { return each != 0; }) == 2) {
      if (place.tap || std::abs(factor) != 1)
        return std::nullopt;
      place.tap = loop;
      place.factor = factor;
    } else if (factor != 1 || hasLoop || (!isTap && !isOut)) {
      return std::nullopt;
    } else {
      place.loop = loop;
      hasLoop = true;
    }
  }
  return hasLoop ? std::optional(place) : std::nullopt;
}

bool LayerReader::readImage() {
  unsigned windows = 0, others = 0;
  auto type = cast<RankedTensorType>(layer_.image.getType());
  for (auto [dimension, expr] : llvm::enumerate(op_.getMatchingIndexingMap(convolution_.image).getResults())) {
    const std::optional<Place> place = placeOf(expr);
    if (!place)
      return false;
    if (place->tap) {
      if (windows == 2)
        return false;
      windowDimensions_[windows] = dimension;
      Place &window = window_[windows++];
      window = *place;
      window.offset += offsets_[dimension];
      // Tiles read what lies behind the last place that a window does, too: there is nothing but zeros.
      const int64_t last = window.offset + sizes_[window.loop] - 1 + (window.factor < 0 ? 0 : sizes_[*window.tap] - 1);
      if (type.getDimSize(dimension) > last + 1)
        return false;
      continue;
    }
    if (place->offset + offsets_[dimension] != 0 || type.getDimSize(dimension) != sizes_[place->loop])
      return false;
    const bool isSummed = isIn(other_, place->loop);
    (isSummed ? summed_ : kept_) = place->loop;
    (isSummed ? summedDimension_ : keptDimension_) = dimension;
    others |= isSummed ? 1 : 2;
  }
  return windows == 2 && others == 3 && window_[0].factor == window_[1].factor;
}

/// Of a small square with a middle; of the loops that go along its sides.
bool LayerReader::readWindow(unsigned down, unsigned across) {
  layer_.window = sizes_[down];
  return sizes_[across] == layer_.window && layer_.window >= kLeastWindow && layer_.window <= kMostWindow &&
         layer_.window % 2 != 0;
}

/// Where the other factor and the result have these sides. @return the result's dimension of filters, which it has to
/// have
std::optional<unsigned> LayerReader::readDimensions() {
  for (unsigned side : {0, 1}) {
    layer_.ofOther[1 + side] = *positionIn(other_, *window_[side].tap);
    layer_.ofOut[1 + side] = *positionIn(out_, window_[side].loop);
  }
  for (unsigned dimension = 0; dimension < 4; ++dimension)
    if (isIn(other_, out_.getDimPosition(dimension))) {
      layer_.filters = sizes_[out_.getDimPosition(dimension)];
      return dimension;
    }
  return std::nullopt;
}

bool LayerReader::readForward() {
  if (!readWindow(*window_[0].tap, *window_[1].tap))
    return false;
  layer_.isBackwards = window_[0].factor < 0;
  layer_.images = sizes_[kept_];
  layer_.channels = sizes_[summed_];
  layer_.ofImage = {keptDimension_, windowDimensions_[0], windowDimensions_[1], summedDimension_};
  for (unsigned side : {0, 1}) {
    layer_.places[side] = sizes_[window_[side].loop];
    layer_.low[side] = -(window_[side].offset - (layer_.isBackwards ? layer_.window - 1 : 0));
  }
  const std::optional<unsigned> filters = readDimensions();
  if (!filters)
    return false;
  const int64_t own = *positionIn(other_, out_.getDimPosition(*filters)), summed = *positionIn(other_, summed_);
  layer_.isFirstSummed = summed < own;
  layer_.ofOther[0] = std::min(own, summed);
  layer_.ofOther[3] = std::max(own, summed);
  layer_.ofOut[0] = *positionIn(out_, kept_);
  layer_.ofOut[3] = *filters;
  return true;
}

bool LayerReader::readOfFilters() {
  layer_.isOfFilters = true;
  if (!readWindow(window_[0].loop, window_[1].loop) || window_[0].factor < 0)
    return false;
  layer_.images = sizes_[summed_];
  layer_.channels = sizes_[kept_];
  layer_.ofImage = {summedDimension_, windowDimensions_[0], windowDimensions_[1], keptDimension_};
  for (unsigned side : {0, 1}) {
    layer_.places[side] = sizes_[*window_[side].tap];
    layer_.low[side] = -window_[side].offset;
  }
  const std::optional<unsigned> filters = readDimensions();
  if (!filters)
    return false;
  const int64_t own = *filters, kept = *positionIn(out_, kept_);
  layer_.isFirstOfImage = kept < own;
  layer_.ofOut[0] = std::min(kept, own);
  layer_.ofOut[3] = std::max(kept, own);
  layer_.ofOther[0] = *positionIn(other_, summed_);
  layer_.ofOther[3] = *positionIn(other_, out_.getDimPosition(*filters));
  return true;
}

std::optional<WindowLayer> LayerReader::read() {
  if (!isExact() || !readBorder() || !readImage())
    return std::nullopt;
  // Both are sums along windows that slide; filters are the smaller ones.
  const int64_t taps = sizes_[*window_[0].tap], places = sizes_[window_[0].loop];
  const bool isForward =
      taps <= kMostWindow && taps % 2 != 0 && (taps <= places || places > kMostWindow || places % 2 == 0);
  if (!(isForward ? readForward() : readOfFilters()))
    return std::nullopt;
  return layer_;
}

} // namespace

std::optional<WindowLayer> WindowLayer::of(const Convolution &convolution) {
  return LayerReader(convolution).read();
}

double WindowLayer::operations() const {
  return 2.0 * double(images) * double(places[0]) * double(places[1]) * double(channels) * double(filters) *
         double(window * window);
}

} // namespace tenon::compiler::dispatch
