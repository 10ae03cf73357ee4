// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/ordered_patches.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/contraction.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/products/computed_tensor.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/images/computed_constants.h"
#include "compiler/dispatch/products/images/turned_result.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Both turned filters and patches are written once and read once. Patches are read by the product again where the image
// would have been, a ninth of that.
constexpr int64_t kFiltersForPlace = 2;
// A thread has all places of a window in registers (codegen/strategies/transposes/short_turns.h).
constexpr int64_t kMostPlaces = 16, kVectorBytes = 16;

/// Loops of the patches, outermost first: those of the result that the filters do not have, and the sum's in the order
/// of the filters.
struct PatchLoops {
  SmallVector<unsigned> places, summed;
};

/// Nothing where filters are not rows of what is summed, channels before windows.
std::optional<PatchLoops> patchLoopsOf(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  const AffineMap image = op.getMatchingIndexingMap(convolution.image),
                  filters = op.getMatchingIndexingMap(convolution.filters);
  PatchLoops order;
  for (AffineExpr expr : filters.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (types[loop] == utils::IteratorType::reduction)
      order.summed.push_back(loop);
    else if (!order.summed.empty() || image.isFunctionOfDim(loop))
      return std::nullopt;
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (types[loop] == utils::IteratorType::parallel && !filters.isFunctionOfDim(loop))
      order.places.push_back(loop);
  if (order.summed.size() != op.getNumReductionLoops() || order.summed.size() < 2 ||
      order.summed.front() != convolution.channels)
    return std::nullopt;
  return order;
}

int64_t productOf(ArrayRef<int64_t> sizes, ArrayRef<unsigned> loops) {
  int64_t product = 1;
  for (unsigned loop : loops)
    product *= sizes[loop];
  return product;
}

/// The place of the image that loops have.
SmallVector<Value> placeOf(PlaceMath &math, AffineMap image, ArrayRef<Value> loops) {
  SmallVector<Value> place;
  for (AffineExpr expr : image.getResults()) {
    const std::optional<LinearExpr> sum = LinearExpr::of(expr, image.getNumDims());
    Value index;
    for (auto [loop, factor] : llvm::enumerate(sum->factors))
      if (factor != 0)
        index = math.sum(index, math.times(loops[loop], factor));
    if (sum->offset != 0 || !index)
      index = math.sum(index, math.number(sum->offset));
    place.push_back(index);
  }
  return place;
}

} // namespace

linalg::GenericOp multiplyOrderedPatches(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  if (!convolution.isOnCores || !convolution.hasManyChannels() || convolution.isOfFilters || convolution.across ||
      op.hasIndexSemantics() || isMovableConstant(convolution.filters->get())) // these are turned when compiled
    return {};
  const std::optional<PatchLoops> found = patchLoopsOf(convolution);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const int64_t bytes = elementBytes(getElementTypeOrSelf(convolution.image->get().getType()));
  if (!found || sizes[convolution.channels] * bytes % kVectorBytes != 0)
    return {};
  const int64_t window = productOf(sizes, ArrayRef(found->summed).drop_front());
  const int64_t places = productOf(sizes, found->places), summed = productOf(sizes, found->summed);
  auto filters = cast<RankedTensorType>(convolution.filters->get().getType());
  const AffineMap before = op.getMatchingIndexingMap(convolution.image);
  if (window < 2 || window > kMostPlaces || kFiltersForPlace * places * summed > filters.getNumElements() ||
      llvm::any_of(before.getResults(), [&](AffineExpr expr) { return !LinearExpr::of(expr, op.getNumLoops()); }))
    return {};

  OpBuilder b(op);
  Value image = convolution.image->get();
  const SmallVector<int64_t> order = orderOf(convolution, convolution.image);
  Value inside = insideOfBorder(image);
  if (!llvm::is_sorted(order))
    inside = turnedTo(b, op.getLoc(), inside, order);
  SmallVector<unsigned> loops(found->places);
  llvm::append_range(loops, found->summed);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> read;
  for (unsigned loop : loops) {
    shape.push_back(sizes[loop]);
    read.push_back(b.getAffineDimExpr(loop));
  }
  Value patches =
      buildTensor(b, op.getLoc(), shape, getElementTypeOrSelf(image), [&](OpBuilder &b, ArrayRef<Value> at) {
        SmallVector<Value> all(op.getNumLoops()); // of the loops; null: not of the image
        for (auto [loop, value] : llvm::zip_equal(loops, at))
          all[loop] = value;
        PlaceMath math(b, op.getLoc());
        return readImage(b, image, placeOf(math, before, all), [&](OpBuilder &b, ValueRange indices) -> Value {
          const SmallVector<Value> place(indices);
          return tensor::ExtractOp::create(b, op.getLoc(), inside, inOrder(ArrayRef(place), order));
        });
      });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[convolution.image->getOperandNumber()] = AffineMap::get(op.getNumLoops(), 0, read, op.getContext());
  convolution.image->set(patches);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  return op;
}

} // namespace tenon::compiler::dispatch
