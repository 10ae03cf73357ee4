// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/few_channels.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kStepBytes = 128, kVectorBytes = 16; // what tensor cores multiply at once, and what is copied at once
// Of dimensions that the program does not know: it matters how much longer one is than its results.
constexpr double kAssumedLength = 256;

/// A dimension of the image, place * loop + step * column: a column of the window that may become a part of the copy's
/// last dimension.
struct Window {
  unsigned dimension; // of the image
  unsigned loop, column;
  int64_t place, step;
};

class Joiner {
public:
  explicit Joiner(const Convolution &convolution)
      : convolution_(convolution), op_(convolution.op), loc_(op_.getLoc()), b_(op_), sizes_(op_.getStaticLoopRanges()),
        image_(op_.getMatchingIndexingMap(convolution.image)),
        filters_(op_.getMatchingIndexingMap(convolution.filters)) {}

  linalg::GenericOp run();

private:
  Type element() { return cast<RankedTensorType>(convolution_.image->get().getType()).getElementType(); }
  ArrayRef<int64_t> shapeOf(OpOperand *operand) { return cast<RankedTensorType>(operand->get().getType()).getShape(); }
  SmallVector<Window> findWindows();
  bool isColumn(unsigned loop);
  bool isPlace(unsigned loop);
  /// The loop over the image's channels.
  unsigned channelsLoop() { return convolution_.lastOf(convolution_.image); }
  int64_t channels() { return sizes_[channelsLoop()]; }
  int64_t roomOf(ArrayRef<Window> windows);
  int64_t lengthOf(ArrayRef<Window> windows, int64_t room);
  int64_t paddedLength(ArrayRef<Window> windows, int64_t room);
  int64_t paddedLength(ArrayRef<Window> windows) { return paddedLength(windows, channels()); }
  double copySize(ArrayRef<Window> windows);
  const Window *windowOf(unsigned dimension);
  bool isJoined(unsigned loop);
  Value number(OpBuilder &b, int64_t value) { return PlaceMath(b, loc_).number(value); }
  OpFoldResult sizeOf(unsigned dimension);
  Value build(ArrayRef<OpFoldResult> shape, function_ref<Value(OpBuilder &, ArrayRef<Value>)> element);
  SmallVector<Value> columnsAt(OpBuilder &b, Value place);
  Value copyImage();
  Value copyFilters();
  /// The loops behind the change: those that are not joined, and a last one for all that are.
  struct Loops {
    SmallVector<AffineExpr> now; // [old loops]; joined ones stand nowhere
    SmallVector<utils::IteratorType> types;
    AffineExpr last;
  };
  Loops loopsLeft(utils::IteratorType last);
  SmallVector<AffineExpr> placesOfImage(ArrayRef<AffineExpr> loops, AffineExpr last);
  linalg::GenericOp replace(Value image, Value filters);
  linalg::GenericOp replaceGradient(Value image);

  const Convolution &convolution_;
  linalg::GenericOp op_;
  Location loc_;
  OpBuilder b_;
  const SmallVector<int64_t> sizes_; // of the loops
  const AffineMap image_, filters_;
  SmallVector<Window> joined_;
};

/// Whether the loop is over a row or a column of the window: of the filters, summed over; of a gradient by filters, of
/// its result.
bool Joiner::isColumn(unsigned loop) {
  const bool isSummed = op_.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  const bool isOfFilters = filters_.getResultPosition(getAffineDimExpr(loop, op_.getContext())).has_value();
  return convolution_.isOfFilters ? !isSummed && !isOfFilters : isSummed && isOfFilters;
}

/// Whether it is over what windows slide along.
bool Joiner::isPlace(unsigned loop) {
  const bool isSummed = op_.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  return isSummed == convolution_.isOfFilters && !isColumn(loop);
}

/// Outermost first.
SmallVector<Window> Joiner::findWindows() {
  SmallVector<Window> windows;
  for (auto [dimension, expr] : llvm::enumerate(image_.getResults())) {
    const std::optional<LinearExpr> sum = LinearExpr::of(expr, sizes_.size());
    if (!sum || sum->offset != 0 || isa<AffineDimExpr>(expr))
      continue;
    SmallVector<unsigned> loops;
    for (auto [loop, factor] : llvm::enumerate(sum->factors))
      if (factor != 0)
        loops.push_back(loop);
    if (loops.size() != 2)
      continue;
    if (isColumn(loops[0]))
      std::swap(loops[0], loops[1]);
    const Window window{unsigned(dimension), loops[0], loops[1], sum->factors[loops[0]], sum->factors[loops[1]]};
    const bool isElsewhere = llvm::count_if(image_.getResults(), [&](AffineExpr other) {
                               return other.isFunctionOfDim(window.column) || other.isFunctionOfDim(window.loop);
                             }) != 1;
    if (isColumn(window.column) && isPlace(window.loop) && window.place > 0 && window.step > 0 && !isElsewhere)
      windows.push_back(window);
  }
  return windows;
}

/// Of the window's columns, each with room for some channels.
int64_t Joiner::lengthOf(ArrayRef<Window> windows, int64_t room) {
  int64_t length = room;
  for (const Window &window : windows)
    length *= sizes_[window.column];
  return length;
}

/// With zeros: vectors are whole, and no step is more than half zeros.
int64_t Joiner::paddedLength(ArrayRef<Window> windows, int64_t room) {
  const int64_t bytes = elementBytes(element()), step = kStepBytes / bytes;
  if (convolution_.isOfFilters)
    return int64_t(llvm::alignTo(lengthOf(windows, room), step));
  const int64_t length = int64_t(llvm::alignTo(lengthOf(windows, room), kVectorBytes / bytes));
  const int64_t inLast = length % step;
  return inLast == 0 ? length : length + std::max<int64_t>(0, step / 2 - inLast);
}

/// Room for the channels of a column: a power of two, which takes no division to find, where zeros are there anyway.
int64_t Joiner::roomOf(ArrayRef<Window> windows) {
  const auto power = int64_t(llvm::PowerOf2Ceil(uint64_t(channels())));
  return paddedLength(windows, power) == paddedLength(windows) ? power : channels();
}

double Joiner::copySize(ArrayRef<Window> windows) {
  double size = double(paddedLength(windows));
  for (auto [dimension, length] : llvm::enumerate(shapeOf(convolution_.image))) {
    if (image_.getResult(dimension) == getAffineDimExpr(channelsLoop(), op_.getContext()))
      continue;
    const auto *window =
        llvm::find_if(windows, [&, at = dimension](const Window &each) { return each.dimension == at; });
    const bool isUnknown = ShapedType::isDynamic(length);
    if (window == windows.end())
      size *= isUnknown ? kAssumedLength : double(length);
    else
      size *= isUnknown ? kAssumedLength / double(window->place) : double(sizes_[window->loop]);
  }
  return size;
}

/// Of the copy of the image, along a dimension of the image that is not its channels.
OpFoldResult Joiner::sizeOf(unsigned dimension) {
  const Window *window = windowOf(dimension);
  const int64_t known = window ? sizes_[window->loop] : shapeOf(convolution_.image)[dimension];
  if (!ShapedType::isDynamic(known))
    return b_.getIndexAttr(known);
  if (!window)
    return dimensionOf(b_, loc_, convolution_.image->get(), dimension);
  OpOperand *start = op_.getDpsInitOperand(0);
  return dimensionOf(b_, loc_, start->get(),
                     *op_.getMatchingIndexingMap(start).getResultPosition(b_.getAffineDimExpr(window->loop)));
}

const Window *Joiner::windowOf(unsigned dimension) {
  const auto *found = llvm::find_if(joined_, [&](const Window &window) { return window.dimension == dimension; });
  return found == joined_.end() ? nullptr : found;
}

/// Whether the loop becomes a part of the last one.
bool Joiner::isJoined(unsigned loop) {
  return loop == channelsLoop() || llvm::any_of(joined_, [&](const Window &window) { return window.column == loop; });
}

/// A tensor of zeros, but for places whose last index is a window's column and a channel. Room beyond the channels is
/// zero, too.
Value Joiner::build(ArrayRef<OpFoldResult> shape, function_ref<Value(OpBuilder &, ArrayRef<Value>)> element) {
  Type type = this->element();
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type));
  const int64_t room = roomOf(joined_), length = lengthOf(joined_, room);
  return buildTensor(b_, loc_, shape, type, [&](OpBuilder &b, ArrayRef<Value> at) -> Value {
    PlaceMath math(b, loc_);
    SmallVector<Value> place(at);
    Value last = place.back();
    place.back() = arith::MinSIOp::create(b, loc_, last, math.number(length - 1));
    Value value = element(b, place);
    Value isInside = math.isBelow(last, length);
    if (room != channels()) {
      Value channel = arith::RemUIOp::create(b, loc_, last, math.number(room));
      isInside = math.both(isInside, math.isBelow(channel, channels()));
    }
    return arith::SelectOp::create(b, loc_, isInside, value, zero);
  });
}

/// Of the joined windows, and the channel.
SmallVector<Value> Joiner::columnsAt(OpBuilder &b, Value place) {
  auto split = [&](int64_t length) -> Value {
    Value size = number(b, length), part = arith::RemUIOp::create(b, loc_, place, size);
    place = arith::DivUIOp::create(b, loc_, place, size);
    return part;
  };
  const int64_t room = roomOf(joined_);
  Value channel = split(room);
  if (room != channels())
    channel = arith::MinSIOp::create(b, loc_, channel, number(b, channels() - 1));
  SmallVector<Value> parts = {channel};
  for (const Window &window : llvm::reverse(ArrayRef(joined_).drop_front()))
    parts.push_back(split(sizes_[window.column]));
  parts.push_back(place);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Value Joiner::copyImage() {
  SmallVector<OpFoldResult> shape;
  for (unsigned dimension = 0; dimension < image_.getNumResults(); ++dimension)
    if (image_.getResult(dimension) != b_.getAffineDimExpr(channelsLoop()))
      shape.push_back(sizeOf(dimension));
  shape.push_back(b_.getIndexAttr(paddedLength(joined_)));
  return build(shape, [&](OpBuilder &b, ArrayRef<Value> at) {
    const SmallVector<Value> columns = columnsAt(b, at.back());
    SmallVector<Value> place;
    unsigned next = 0;
    for (auto [dimension, expr] : llvm::enumerate(image_.getResults())) {
      if (expr == b_.getAffineDimExpr(channelsLoop())) {
        place.push_back(columns.back());
        continue;
      }
      Value index = at[next++];
      if (const Window *window = windowOf(dimension)) {
        Value begin = arith::MulIOp::create(b, loc_, index, number(b, window->place));
        Value column = arith::MulIOp::create(b, loc_, columns[window - joined_.begin()], number(b, window->step));
        index = arith::AddIOp::create(b, loc_, begin, column);
      }
      place.push_back(index);
    }
    Value image = convolution_.image->get(), inside = insideOfBorder(image);
    return readImage(b, image, place, [&](OpBuilder &b, ValueRange indices) -> Value {
      return tensor::ExtractOp::create(b, loc_, inside, indices);
    });
  });
}

Value Joiner::copyFilters() {
  SmallVector<OpFoldResult> shape;
  for (auto [expr, length] : llvm::zip_equal(filters_.getResults(), shapeOf(convolution_.filters)))
    if (!isJoined(cast<AffineDimExpr>(expr).getPosition()))
      shape.push_back(b_.getIndexAttr(length));
  shape.push_back(b_.getIndexAttr(paddedLength(joined_)));
  return build(shape, [&](OpBuilder &b, ArrayRef<Value> at) -> Value {
    const SmallVector<Value> columns = columnsAt(b, at.back());
    SmallVector<Value> place;
    unsigned next = 0;
    for (AffineExpr expr : filters_.getResults()) {
      const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      const auto *window = llvm::find_if(joined_, [&](const Window &each) { return each.column == loop; });
      if (window != joined_.end())
        place.push_back(columns[window - joined_.begin()]);
      else
        place.push_back(loop == channelsLoop() ? columns.back() : at[next++]);
    }
    return tensor::ExtractOp::create(b, loc_, convolution_.filters->get(), place);
  });
}

Joiner::Loops Joiner::loopsLeft(utils::IteratorType last) {
  Loops left;
  for (auto [loop, type] : llvm::enumerate(op_.getIteratorTypesArray())) {
    left.now.push_back(b_.getAffineDimExpr(left.types.size()));
    if (!isJoined(loop))
      left.types.push_back(type);
  }
  left.last = b_.getAffineDimExpr(left.types.size());
  left.types.push_back(last);
  return left;
}

/// Where the copy of the image is read.
SmallVector<AffineExpr> Joiner::placesOfImage(ArrayRef<AffineExpr> loops, AffineExpr last) {
  SmallVector<AffineExpr> places;
  for (auto [dimension, expr] : llvm::enumerate(image_.getResults()))
    if (const Window *window = windowOf(dimension))
      places.push_back(loops[window->loop]);
    else if (expr != b_.getAffineDimExpr(channelsLoop()))
      places.push_back(expr.replaceDims(loops));
  places.push_back(last);
  return places;
}

/// The convolution over the copies: its loops, but for those that are joined, and one for these.
linalg::GenericOp Joiner::replace(Value image, Value filters) {
  const auto [loops, types, last] = loopsLeft(utils::IteratorType::reduction);
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(types.size(), 0, results, b_.getContext()); };
  SmallVector<AffineExpr> ofFilters, ofResult;
  for (AffineExpr expr : filters_.getResults())
    if (!isJoined(cast<AffineDimExpr>(expr).getPosition()))
      ofFilters.push_back(expr.replaceDims(loops));
  ofFilters.push_back(last);
  OpOperand *start = op_.getDpsInitOperand(0);
  for (AffineExpr expr : op_.getMatchingIndexingMap(start).getResults())
    ofResult.push_back(expr.replaceDims(loops));
  SmallVector<Value> inputs = {image, filters};
  SmallVector<AffineMap> maps = {mapOf(placesOfImage(loops, last)), mapOf(ofFilters)};
  if (convolution_.image->getOperandNumber() > convolution_.filters->getOperandNumber()) {
    std::swap(inputs[0], inputs[1]);
    std::swap(maps[0], maps[1]);
  }
  maps.push_back(mapOf(ofResult));
  auto after = linalg::GenericOp::create(b_, loc_, start->get().getType(), inputs, start->get(), maps, types);
  after.getRegion().takeBody(op_.getRegion());
  op_->replaceAllUsesWith(after->getResults());
  op_->erase();
  return after;
}

/// The gradient by filters over the copy of the image: its loops, but for those that are joined, and one for these,
/// which are told apart again behind it.
linalg::GenericOp Joiner::replaceGradient(Value image) {
  const auto [loops, types, last] = loopsLeft(utils::IteratorType::parallel);
  OpOperand *start = op_.getDpsInitOperand(0);
  const AffineMap written = op_.getMatchingIndexingMap(start);
  SmallVector<AffineExpr> ofFilters, ofSums, read;
  for (AffineExpr expr : filters_.getResults())
    ofFilters.push_back(expr.replaceDims(loops));
  SmallVector<int64_t> shape;
  AffineExpr place = b_.getAffineConstantExpr(0); // in the last dimension of what is summed
  const Window &window = joined_.front();
  for (auto [dimension, expr] : llvm::enumerate(written.getResults())) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    AffineExpr index = b_.getAffineDimExpr(dimension); // of the result
    if (isJoined(loop)) {
      place = place + (loop == window.column ? index * roomOf(joined_) : index);
      continue;
    }
    ofSums.push_back(expr.replaceDims(loops));
    read.push_back(index);
    shape.push_back(sizes_[loop]);
  }
  ofSums.push_back(last);
  read.push_back(place);
  shape.push_back(paddedLength(joined_));
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(types.size(), 0, results, b_.getContext()); };
  SmallVector<Value> inputs = {image, convolution_.filters->get()};
  SmallVector<AffineMap> maps = {mapOf(placesOfImage(loops, last)), mapOf(ofFilters)};
  if (convolution_.image->getOperandNumber() > convolution_.filters->getOperandNumber()) {
    std::swap(inputs[0], inputs[1]);
    std::swap(maps[0], maps[1]);
  }
  maps.push_back(mapOf(ofSums));
  auto result = cast<RankedTensorType>(start->get().getType());
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, result.getElementType());
  auto fill = start->get().getDefiningOp<linalg::FillOp>();
  Value from = linalg::FillOp::create(b_, loc_, fill.getInputs()[0], empty).getResult(0);
  auto sums = linalg::GenericOp::create(b_, loc_, from.getType(), inputs, from, maps, types);
  sums.getRegion().takeBody(op_.getRegion());
  Value whole = tensor::EmptyOp::create(b_, loc_, result.getShape(), result.getElementType());
  const unsigned rank = result.getRank();
  auto apart = linalg::GenericOp::create(
      b_, loc_, result, sums.getResult(0), whole,
      ArrayRef<AffineMap>{AffineMap::get(rank, 0, read, b_.getContext()), b_.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &b, Location loc, ValueRange values) { linalg::YieldOp::create(b, loc, values[0]); });
  op_->replaceAllUsesWith(apart->getResults());
  op_->erase();
  return sums;
}

linalg::GenericOp Joiner::run() {
  if (op_.hasIndexSemantics()) // which places are summed depends on the loops as they are
    return {};
  joined_ = findWindows();
  if (joined_.empty())
    return {};
  if (convolution_.isOfFilters) {
    joined_.erase(joined_.begin(), joined_.end() - 1);
    const bool mayReplace = convolution_.across && op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    return mayReplace ? replaceGradient(copyImage()) : linalg::GenericOp();
  }
  if (copySize(joined_) > copySize(ArrayRef(joined_).take_back()))
    joined_.erase(joined_.begin(), joined_.end() - 1);
  Value image = copyImage(), filters = copyFilters();
  return replace(image, filters);
}

} // namespace

linalg::GenericOp joinWindowWithChannels(const Convolution &convolution) {
  return Joiner(convolution).run();
}

} // namespace tenon::compiler::dispatch
