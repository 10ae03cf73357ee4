// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/shifted_images.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// What a step multiplies, what a box begins at, and what two of them that lie on a tile's side are multiples of.
constexpr int64_t kStep = 32, kVector = 4, kChannels = 16;
// Of an H200: products of warps that read elements one by one, of those whose operands both lie across, of warpgroups,
// and what copies read and write.
constexpr double kByWarps = 35e6, kByWarpsAcross = 95e6, kByWarpgroups = 300e6, kBytesInMicrosecond = 3e6;

/// Places along a dimension of the image: place * step + window * apart.
struct Slide {
  unsigned dimension; // of the image
  unsigned place = 0, window = 0;
  int64_t step = 0, apart = 0;
};

/// The loops of such a gradient.
struct Sides {
  unsigned imageDimension = 0;   // of the image's tensor: which image
  unsigned channelDimension = 0; // and its channels
  unsigned images = 0, channels = 0;
  SmallVector<Slide, 3> slides;  // outermost first
  SmallVector<unsigned> filters; // of the gradient alone, as they lie

  static std::optional<Sides> of(const Convolution &convolution);
};

std::optional<Slide> slideOf(linalg::GenericOp op, AffineExpr expr, unsigned dimension) {
  const std::optional<LinearExpr> sum = LinearExpr::of(expr, op.getNumLoops());
  if (!sum || sum->offset != 0)
    return std::nullopt;
  Slide slide{dimension};
  for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
    const bool isSummed = op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    int64_t &own = isSummed ? slide.step : slide.apart;
    if (factor == 0)
      continue;
    if (factor < 0 || own != 0)
      return std::nullopt;
    own = factor;
    (isSummed ? slide.place : slide.window) = unsigned(loop);
  }
  return slide.step != 0 && slide.apart != 0 ? std::optional(slide) : std::nullopt;
}

std::optional<Sides> Sides::of(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const AffineMap image = op.getMatchingIndexingMap(convolution.image),
                  gradient = op.getMatchingIndexingMap(convolution.filters);
  Sides sides;
  sides.images = convolution.channels;
  unsigned plain = 0;
  for (auto [dimension, expr] : llvm::enumerate(image.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      const bool isImages = loop.getPosition() == sides.images;
      (isImages ? sides.imageDimension : sides.channelDimension) = unsigned(dimension);
      if (!isImages)
        sides.channels = loop.getPosition();
      ++plain;
      continue;
    }
    const std::optional<Slide> slide = slideOf(op, expr, unsigned(dimension));
    if (!slide)
      return std::nullopt;
    sides.slides.push_back(*slide);
  }
  if (plain != 2 || sides.slides.empty() || !gradient.isProjectedPermutation() ||
      op.getIteratorTypesArray()[sides.channels] != utils::IteratorType::parallel)
    return std::nullopt;
  unsigned places = 0;
  for (AffineExpr expr : gradient.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    const bool isPlace = llvm::any_of(sides.slides, [&](const Slide &slide) { return slide.place == loop; });
    places += isPlace;
    if (!isPlace && loop != sides.images)
      sides.filters.push_back(loop);
  }
  const bool hasAll = places == sides.slides.size() && gradient.isFunctionOfDim(sides.images) &&
                      2 + 2 * sides.slides.size() + sides.filters.size() == op.getNumLoops();
  return hasAll && sides.filters.size() == 1 ? std::optional(sides) : std::nullopt;
}

/// Whether channels are last on both sides, where warps read them in vectors.
bool areChannelsLast(const Convolution &convolution, const Sides &sides) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isLast = [&](OpOperand *operand, unsigned loop) {
    return op.getMatchingIndexingMap(operand).getResults().back() == getAffineDimExpr(loop, op.getContext()) &&
           sizes[loop] % kVector == 0;
  };
  return isLast(convolution.image, sides.channels) && isLast(convolution.filters, sides.filters.front());
}

/// How long warps take, which multiply all of their tiles.
double microsecondsByWarps(const Convolution &convolution, const Sides &sides, double operations) {
  constexpr int64_t kTile = 128, kSmallTile = 64;
  const int64_t filters = linalg::GenericOp(convolution.op).getStaticLoopRanges()[sides.filters.front()];
  const double inTiles = filters <= kSmallTile ? kSmallTile : double(llvm::alignTo(uint64_t(filters), kTile));
  return areChannelsLast(convolution, sides) ? operations / double(filters) * inTiles / kByWarpsAcross
                                             : operations / kByWarps;
}

/// Whether the places of the last two dimensions are behind each other in whole steps, rows of them at vectors, and the
/// copies pay.
bool isWorthwhile(const Convolution &convolution, const Sides &sides) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const Slide &last = sides.slides.back();
  const int64_t width = sizes[last.place];
  int64_t places = width;
  for (const Slide &slide : ArrayRef(sides.slides).drop_back())
    if (slide.step != 1)
      return false;
  if (sides.slides.size() > 1)
    places *= sizes[sides.slides[sides.slides.size() - 2].place];
  if (llvm::is_contained(sizes, 0) || width % kVector != 0 || places % kStep != 0 ||
      sizes[sides.channels] % kChannels != 0)
    return false;
  double operations = 2, ofPlaces = double(sizes[sides.images]) * sizeof(float);
  for (int64_t size : sizes)
    operations *= double(size);
  for (const Slide &slide : sides.slides)
    ofPlaces *= double(sizes[slide.place]);
  const double bytes = ofPlaces * (double(sizes[sides.channels]) * double(3 + sizes[last.window]) +
                                   2 * double(sizes[sides.filters.front()]));
  return operations / kByWarpgroups + bytes / kBytesInMicrosecond < microsecondsByWarps(convolution, sides, operations);
}

/// The tensor with its last `count` dimensions as one.
Value withOnePlace(OpBuilder &b, Location loc, Value tensor, size_t count) {
  const auto rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dimension = 0; dimension + int64_t(count) < rank; ++dimension)
    groups.push_back({dimension});
  groups.emplace_back(llvm::to_vector(llvm::seq<int64_t>(rank - int64_t(count), rank)));
  return count == 1 ? tensor : tensor::CollapseShapeOp::create(b, loc, tensor, groups).getResult();
}

/// The image with its places last, which threads that move them read as neighbours. A kernel of its own turns it: it is
/// moved several times.
Value turnedImage(OpBuilder &b, Location loc, Value image, ArrayRef<int64_t> order) {
  Value turned = turnedTo(b, loc, image, order);
  auto copy = turned.getDefiningOp<linalg::TransposeOp>();
  if (!copy)
    return turned;
  IRRewriter rewriter(copy);
  FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, copy);
  if (failed(generic))
    return turned;
  (*generic)->setAttr(kOwnKernelAttr, b.getUnitAttr());
  return generic->getResult(0);
}

/// moved[n, z.., c, kx, y, x], with one dimension for y and x. Those of a channel follow each other, so that the cache
/// still has it.
Value movedImages(OpBuilder &b, const Convolution &convolution, const Sides &sides, size_t joined) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const Location loc = op.getLoc();
  Value image = convolution.image->get(), inside = insideOfBorder(image);
  const AffineMap map = op.getMatchingIndexingMap(convolution.image);
  // Places last, so that threads read neighbours.
  SmallVector<int64_t> order = {int64_t(sides.imageDimension), int64_t(sides.channelDimension)};
  for (const Slide &slide : sides.slides)
    order.push_back(slide.dimension);
  const bool isTurned = order.back() + 1 != int64_t(map.getNumResults());
  if (isTurned)
    inside = turnedImage(b, loc, inside, order);
  const Slide &last = sides.slides.back();
  SmallVector<int64_t> shape = {sizes[sides.images]};
  const size_t outer = sides.slides.size() - joined;
  auto extentOf = [&](const Slide &slide) {
    return sizes[slide.place] + (sizes[slide.window] - 1) * slide.apart; // in steps of one
  };
  for (const Slide &slide : ArrayRef(sides.slides).take_front(outer))
    shape.push_back(extentOf(slide));
  llvm::append_values(shape, sizes[sides.channels], sizes[last.window]);
  for (const Slide &slide : ArrayRef(sides.slides).slice(outer).drop_back())
    shape.push_back(extentOf(slide));
  shape.push_back(sizes[last.place]);
  Value moved = buildTensor(b, loc, shape, getElementTypeOrSelf(image), [&](OpBuilder &b, ArrayRef<Value> at) {
    PlaceMath math(b, loc);
    SmallVector<Value> place(map.getNumResults());
    place[sides.imageDimension] = at[0];
    size_t next = 1;
    for (const Slide &slide : ArrayRef(sides.slides).take_front(outer))
      place[slide.dimension] = at[next++];
    place[sides.channelDimension] = at[next++];
    Value window = at[next++];
    for (const Slide &slide : ArrayRef(sides.slides).slice(outer).drop_back())
      place[slide.dimension] = at[next++];
    place[last.dimension] = math.sum(math.times(at[next], last.step), math.times(window, last.apart));
    return readImage(b, image, place, [&](OpBuilder &b, ValueRange indices) -> Value {
      const SmallVector<Value> read(indices);
      return tensor::ExtractOp::create(b, loc, inside, isTurned ? inOrder(ArrayRef(read), order) : read);
    });
  });
  return withOnePlace(b, loc, moved, joined);
}

/// gradient[n, z.., f, y, x], with one dimension for y and x.
Value placesLast(OpBuilder &b, const Convolution &convolution, const Sides &sides, size_t joined) {
  linalg::GenericOp op = convolution.op;
  const AffineMap map = op.getMatchingIndexingMap(convolution.filters);
  SmallVector<int64_t> order;
  auto add = [&](unsigned loop) { order.push_back(*map.getResultPosition(getAffineDimExpr(loop, op.getContext()))); };
  const size_t outer = sides.slides.size() - joined;
  add(sides.images);
  for (const Slide &slide : ArrayRef(sides.slides).take_front(outer))
    add(slide.place);
  add(sides.filters.front());
  for (const Slide &slide : ArrayRef(sides.slides).slice(outer))
    add(slide.place);
  Value gradient = convolution.filters->get();
  if (!llvm::is_sorted(order))
    gradient = turnedTo(b, op.getLoc(), gradient, order);
  return withOnePlace(b, op.getLoc(), gradient, joined);
}

/// Of a gradient of tf32 on Hopper alone, of as many images as fill no step.
std::optional<Sides> sidesOf(const Convolution &convolution) {
  auto image = cast<RankedTensorType>(convolution.image->get().getType());
  if (!convolution.isOfFilters || convolution.across || !image.getElementType().isF32() ||
      !hasHopperTf32(convolution.op) || linalg::GenericOp(convolution.op).hasIndexSemantics())
    return std::nullopt;
  return Sides::of(convolution);
}

} // namespace

bool readsBothAcross(const Convolution &convolution) {
  constexpr int64_t kLeastChannels = 32; // of fewer, columns of the window are joined with them
  const std::optional<Sides> sides = sidesOf(convolution);
  const SmallVector<int64_t> sizes = linalg::GenericOp(convolution.op).getStaticLoopRanges();
  return sides && areChannelsLast(convolution, *sides) &&
         std::min(sizes[sides->channels], sizes[sides->filters.front()]) >= kLeastChannels &&
         !isWorthwhile(convolution, *sides);
}

bool multiplyShiftedImages(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const std::optional<Sides> sides = sidesOf(convolution);
  if (!sides || !isWorthwhile(convolution, *sides))
    return false;
  // The image's channels are last in the result, or the gradient's.
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto lastLoop = dyn_cast<AffineDimExpr>(written.getResults().back());
  if (!written.isProjectedPermutation() || !lastLoop)
    return false;
  if (lastLoop.getPosition() != sides->channels && lastLoop.getPosition() != sides->filters.front()) {
    if (!op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
      return false;
    AffineExpr channels = getAffineDimExpr(sides->channels, op.getContext());
    turnResult(op, lastOrder(written.getNumResults(), *written.getResultPosition(channels)));
  }
  OpBuilder b(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const size_t joined = std::min<size_t>(2, sides->slides.size()), outer = sides->slides.size() - joined;
  const ArrayRef<Slide> inner = ArrayRef(sides->slides).slice(outer);
  SmallVector<AffineExpr> loops; // [old loops]; null: it is one of the places that are joined
  SmallVector<utils::IteratorType> types;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isJoined = llvm::any_of(inner, [&, number = loop](const Slide &slide) { return slide.place == number; });
    loops.push_back(isJoined ? AffineExpr() : b.getAffineDimExpr(unsigned(types.size())));
    if (!isJoined)
      types.push_back(type);
  }
  AffineExpr places = b.getAffineDimExpr(unsigned(types.size()));
  types.push_back(utils::IteratorType::reduction);
  SmallVector<AffineExpr> ofImage = {loops[sides->images]}, ofGradient = {loops[sides->images]}, ofResult;
  for (const Slide &slide : ArrayRef(sides->slides).take_front(outer)) {
    ofImage.push_back(loops[slide.place] + loops[slide.window] * slide.apart);
    ofGradient.push_back(loops[slide.place]);
  }
  llvm::append_values(ofImage, loops[sides->channels], loops[inner.back().window]);
  ofGradient.push_back(loops[sides->filters.front()]);
  ofImage.push_back(joined == 2 ? places + loops[inner[0].window] * (inner[0].apart * sizes[inner[1].place]) : places);
  ofGradient.push_back(places);
  OpOperand *start = op.getDpsInitOperand(0);
  for (AffineExpr expr : op.getMatchingIndexingMap(start).getResults())
    ofResult.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  SmallVector<Value> inputs(2);
  SmallVector<AffineMap> maps(3);
  auto mapOf = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(unsigned(types.size()), 0, exprs, b.getContext());
  };
  inputs[convolution.image->getOperandNumber()] = movedImages(b, convolution, *sides, joined);
  maps[convolution.image->getOperandNumber()] = mapOf(ofImage);
  inputs[convolution.filters->getOperandNumber()] = placesLast(b, convolution, *sides, joined);
  maps[convolution.filters->getOperandNumber()] = mapOf(ofGradient);
  maps[2] = mapOf(ofResult);
  auto product = linalg::GenericOp::create(b, op.getLoc(), start->get().getType(), inputs, start->get(), maps, types);
  product.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(product->getResults());
  op->erase();
  return true;
}

} // namespace tenon::compiler::dispatch
