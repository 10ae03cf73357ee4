// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/ordered_patches.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/orders/computed_constants.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Both turned filters and patches are written once and read once. Patches are read by the product again where the image
// would have been, a ninth of that.
constexpr int64_t kFiltersForPlace = 2;
// A thread has all places of a window in registers (codegen/strategies/transposes/short_turns.h).
constexpr int64_t kMostPlaces = 16, kVectorBytes = 16;
constexpr int64_t kRowsOfBox = 64;

/// Loops of the patches, outermost first: those of the result that the filters do not have, and the sum's in the order
/// of the filters.
struct PatchLoops {
  SmallVector<unsigned> places, summed;
  bool isOfOne = false; // the places of one image are rows, without a loop over images

  bool hasLoop(unsigned loop, ArrayRef<int64_t> sizes) const {
    return !(isOfOne && sizes[loop] == 1 && llvm::is_contained(places, loop));
  }
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

/// The tensor with its last `summed` dimensions as one.
Value withOneSum(OpBuilder &b, Location loc, Value tensor, size_t summed) {
  const auto rank = size_t(cast<RankedTensorType>(tensor.getType()).getRank());
  SmallVector<ReassociationIndices> groups;
  for (size_t dimension = 0; dimension + summed < rank; ++dimension)
    groups.push_back({int64_t(dimension)});
  groups.emplace_back(llvm::to_vector(llvm::seq<int64_t>(int64_t(rank - summed), int64_t(rank))));
  return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
}

/// The product of the patches and the filters: the loops of the result, and one that is summed over, so that parts of
/// the sum are parts of rows.
linalg::GenericOp replace(const Convolution &convolution, Value patches, const PatchLoops &found) {
  linalg::GenericOp op = convolution.op;
  OpBuilder b(op);
  const AffineMap ofFilters = op.getMatchingIndexingMap(convolution.filters);
  SmallVector<AffineExpr> loops; // [old loops]; null: it is a part of the sum
  SmallVector<utils::IteratorType> types;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isSummed = type == utils::IteratorType::reduction;
    const bool isOne = !found.hasLoop(unsigned(loop), sizes);
    loops.push_back(isSummed ? AffineExpr() : isOne ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(types.size()));
    if (!isSummed && !isOne)
      types.push_back(type);
  }
  AffineExpr sum = b.getAffineDimExpr(types.size());
  types.push_back(utils::IteratorType::reduction);
  SmallVector<AffineExpr> image, filters, result;
  for (unsigned loop : found.places)
    if (found.hasLoop(loop, sizes))
      image.push_back(loops[loop]);
  for (AffineExpr expr : ofFilters.getResults())
    if (AffineExpr loop = loops[cast<AffineDimExpr>(expr).getPosition()])
      filters.push_back(loop);
  image.push_back(sum);
  filters.push_back(sum);
  OpOperand *start = op.getDpsInitOperand(0);
  for (AffineExpr expr : op.getMatchingIndexingMap(start).getResults())
    result.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  SmallVector<Value> inputs(2);
  SmallVector<AffineMap> maps(3);
  auto set = [&](OpOperand *operand, Value value, ArrayRef<AffineExpr> map) {
    if (!op.isDpsInit(operand))
      inputs[operand->getOperandNumber()] = withOneSum(b, op.getLoc(), value, found.summed.size());
    maps[operand->getOperandNumber()] = AffineMap::get(types.size(), 0, map, b.getContext());
  };
  set(convolution.image, patches, image);
  set(convolution.filters, convolution.filters->get(), filters);
  set(start, start->get(), result);
  auto product = linalg::GenericOp::create(b, op.getLoc(), start->get().getType(), inputs, start->get(), maps, types);
  product.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(product->getResults());
  op->erase();
  return product;
}

} // namespace

linalg::GenericOp multiplyOrderedPatches(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  if (!convolution.isOnCores || convolution.isOfFilters || convolution.across || op.hasIndexSemantics() ||
      isMovableConstant(convolution.filters->get())) // these are turned when compiled
    return {};
  std::optional<PatchLoops> found = patchLoopsOf(convolution);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const int64_t bytes = elementBytes(getElementTypeOrSelf(convolution.image->get().getType()));
  if (!found || sizes[convolution.channels] * bytes % kVectorBytes != 0)
    return {};
  const int64_t window = productOf(sizes, ArrayRef(found->summed).drop_front());
  const int64_t places = productOf(sizes, found->places), summed = productOf(sizes, found->summed);
  auto filters = cast<RankedTensorType>(convolution.filters->get().getType());
  const AffineMap before = op.getMatchingIndexingMap(convolution.image);
  if (window < 2 || window > kMostPlaces || kFiltersForPlace * places * summed > filters.getNumElements() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation() ||
      llvm::any_of(before.getResults(), [&](AffineExpr expr) { return !LinearExpr::of(expr, op.getNumLoops()); }))
    return {};

  // Boxes of whole tiles lie on one image anyway; with other places only rows of one dimension are boxes, whose sums
  // clusters take apart.
  found->isOfOne = places % kRowsOfBox != 0;
  OpBuilder b(op);
  Value image = convolution.image->get();
  const SmallVector<int64_t> order = orderOf(convolution, convolution.image);
  Value inside = insideOfBorder(image);
  const bool hasOrder =
      cast<RankedTensorType>(inside.getType()).getRank() == int64_t(order.size()); // not a part of more
  if (hasOrder && !llvm::is_sorted(order))
    inside = turnedTo(b, op.getLoc(), inside, order);
  SmallVector<unsigned> loops = llvm::to_vector(
      llvm::make_filter_range(found->places, [&](unsigned loop) { return found->hasLoop(loop, sizes); }));
  llvm::append_range(loops, found->summed);
  const SmallVector<int64_t> shape = llvm::map_to_vector(loops, [&](unsigned loop) { return sizes[loop]; });
  Value patches =
      buildTensor(b, op.getLoc(), shape, getElementTypeOrSelf(image), [&](OpBuilder &b, ArrayRef<Value> at) {
        SmallVector<Value> all(op.getNumLoops()); // of the loops; null: not of the image
        for (auto [loop, value] : llvm::zip_equal(loops, at))
          all[loop] = value;
        PlaceMath math(b, op.getLoc());
        for (unsigned loop : found->places)
          if (!found->hasLoop(loop, sizes))
            all[loop] = math.number(0);
        return readImage(b, image, placeOf(math, before, all), [&](OpBuilder &b, ValueRange indices) -> Value {
          const SmallVector<Value> place(indices);
          return tensor::ExtractOp::create(b, op.getLoc(), inside, hasOrder ? inOrder(ArrayRef(place), order) : place);
        });
      });
  return replace(convolution, patches, *found);
}

} // namespace tenon::compiler::dispatch
