// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/picked_places.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// How a dimension of the image is read: every `step`-th place of it, by one loop.
struct Picked {
  unsigned loop = 0;
  int64_t step = 1;
  AffineExpr inStepsOfOne; // the same index; a window's loop, of one step, stays: it is a convolution still
};

/// Of an index of a loop that may take steps, from the first place on; loops of one step add nothing.
std::optional<Picked> pickedBy(AffineExpr expr, ArrayRef<int64_t> sizes) {
  const std::optional<LinearExpr> index = LinearExpr::of(expr, sizes.size());
  if (!index || index->offset != 0)
    return std::nullopt;
  std::optional<Picked> picked;
  AffineExpr units = getAffineConstantExpr(0, expr.getContext());
  for (auto [loop, factor] : llvm::enumerate(index->factors)) {
    if (factor == 0)
      continue;
    AffineExpr each = getAffineDimExpr(unsigned(loop), expr.getContext());
    if (sizes[loop] == 1) {
      units = units + each * factor;
      continue;
    }
    if (picked || factor < 0)
      return std::nullopt;
    picked = Picked{unsigned(loop), factor, each};
  }
  if (picked)
    picked->inStepsOfOne = picked->inStepsOfOne + units;
  return picked;
}

// An image whose places are no rows that begin at vectors is turned behind, by another launch, which takes longer than
// is saved where it has fewer bytes (an H200: bf16, 32 images of 14 x 14 places, 1024 channels 29.7 us, picked 34.2;
// tf32 49.6 and 48.7; bf16 by the filters, 28 x 28, 512 channels 45.5 and 40.1).
constexpr int64_t kLeastTurned = 20 << 20, kVectorBytes = 16;

/// Whether the image is copied whole else: of channels that are not last, and of tf32 that is summed over places, which
/// tensor cores do not turn.
bool isCopiedElse(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const AffineMap image = op.getMatchingIndexingMap(convolution.image);
  const bool isNarrow = getElementTypeOrSelf(convolution.image->get().getType()).getIntOrFloatBitWidth() <= 16;
  const AffineExpr last = getAffineDimExpr(convolution.lastOf(convolution.image), op.getContext());
  return (convolution.isOfFilters && !isNarrow) || image.getResults().back() != last;
}

/// Whether it takes less time to pick places of an image that has its channels before them.
bool isWorthIt(const Convolution &convolution, ArrayRef<std::pair<size_t, int64_t>> picked) {
  auto type = cast<RankedTensorType>(convolution.image->get().getType());
  if (!type.hasStaticShape())
    return false; // it is turned, however few images there are
  const auto element = int64_t(elementBytes(type.getElementType()));
  linalg::GenericOp op = convolution.op;
  const std::optional<unsigned> channels =
      op.getMatchingIndexingMap(convolution.image)
          .getResultPosition(getAffineDimExpr(convolution.lastOf(convolution.image), op.getContext()));
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dimension, places] : picked)
    shape[dimension] = places;
  int64_t row = channels ? element : 1; // places behind a channel
  for (int64_t size : ArrayRef(shape).drop_front(channels ? *channels + 1 : shape.size()))
    row *= size;
  const bool isRead = element == 2 || (element == 4 && hasHopperTf32(op));
  return (isRead && row % kVectorBytes == 0) || type.getNumElements() * element >= kLeastTurned;
}

} // namespace

bool pickPlaces(const Convolution &convolution) {
  if (!convolution.isOnCores || borderAround(convolution.image->get()) || !isCopiedElse(convolution))
    return false;
  linalg::GenericOp op = convolution.op;
  OpBuilder b(op);
  const Location loc = op.getLoc();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  Value image = convolution.image->get();
  auto type = cast<RankedTensorType>(image.getType());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[convolution.image->getOperandNumber()];
  SmallVector<AffineExpr> from, by;
  SmallVector<std::pair<size_t, int64_t>> shorter; // dimensions, and how many places of each are picked
  for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
    AffineExpr place = b.getAffineDimExpr(unsigned(dimension));
    from.push_back(place);
    by.push_back(expr);
    const std::optional<Picked> picked = isa<AffineDimExpr>(expr) ? std::nullopt : pickedBy(expr, sizes);
    if (!isa<AffineDimExpr>(expr) && (!picked || ShapedType::isDynamic(sizes[picked->loop])))
      return false; // a window of several places, or of a size that is told later
    if (!picked || picked->step == 1)
      continue;
    from.back() = place * picked->step;
    by.back() = picked->inStepsOfOne;
    shorter.emplace_back(dimension, sizes[picked->loop]);
  }
  const bool isChannelsFirst = !isa<AffineDimExpr>(map.getResults().back());
  if (shorter.empty() || (isChannelsFirst && !isWorthIt(convolution, shorter)))
    return false;
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, image);
  for (auto [dimension, places] : shorter)
    shape[dimension] = b.getIndexAttr(places);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  const auto rank = unsigned(type.getRank());
  auto copy = linalg::GenericOp::create(
      b, loc, empty.getType(), image, empty,
      ArrayRef<AffineMap>{AffineMap::get(rank, 0, from, b.getContext()), b.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location at, ValueRange elements) { linalg::YieldOp::create(inner, at, elements.front()); });
  copy->setAttr(kOwnKernelAttr, b.getUnitAttr());
  convolution.image->set(copy.getResult(0));
  map = AffineMap::get(map.getNumDims(), 0, by, b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  return true;
}

} // namespace tenon::compiler::dispatch
