// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/channels_last.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/convolutions/channel_filters.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/slices.h"
#include "compiler/dispatch/products/images/filters_along.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// What makes `tensor` from places of one other for one reader, where it is not known how many images they have; null
/// where it is anything else.
linalg::GenericOp placesOfUnknown(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || cast<RankedTensorType>(tensor.getType()).hasStaticShape() || !op->hasOneUse() ||
      op.getNumDpsInputs() != 0 || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getIndexingMapsArray().front().isIdentity())
    return {};
  auto reads = op.getBody()->getOps<tensor::ExtractOp>();
  return llvm::hasSingleElement(reads) && (*reads.begin()).getTensor().getParentRegion() != &op.getRegion() &&
                 int64_t((*reads.begin()).getIndices().size()) == int64_t(op.getNumLoops())
             ? op
             : linalg::GenericOp();
}

/// The image with a border, turned: a border around the turned image. Null where the tensor is no such.
Value turnedBorder(OpBuilder &b, Value tensor, ArrayRef<int64_t> order) {
  linalg::GenericOp border = borderAround(tensor);
  if (!border)
    border = placesOfUnknown(tensor);
  auto room = border ? border.getDpsInits().front().getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
  if (!room)
    return {};
  const Location loc = border.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto read = *border.getBody()->getOps<tensor::ExtractOp>().begin();
  if (read.getIndices().size() != order.size())
    return {}; // of a tensor of another rank, that has no such order
  Value image = turnedTo(b, loc, read.getTensor(), order);
  const SmallVector<int64_t> shape = inOrder(type.getShape(), order);
  const SmallVector<OpFoldResult> sizes = room.getMixedSizes();
  Value empty = tensor::EmptyOp::create(b, loc, inOrder(ArrayRef(sizes), order), type.getElementType());
  const SmallVector<unsigned> loops(order.begin(), order.end());
  return linalg::GenericOp::create(b, loc, type.clone(shape), ValueRange(), empty,
                                   AffineMap::getPermutationMap(loops, b.getContext()), border.getIteratorTypesArray(),
                                   [&](OpBuilder &inner, Location, ValueRange) {
                                     IRMapping values;
                                     for (Operation &op : *border.getBody()) {
                                       if (&op != read) {
                                         inner.clone(op, values);
                                         continue;
                                       }
                                       SmallVector<Value> places;
                                       for (int64_t from : order)
                                         places.push_back(values.lookupOrDefault(read.getIndices()[from]));
                                       values.map(read.getResult(),
                                                  tensor::ExtractOp::create(inner, loc, image, places).getResult());
                                     }
                                   })
      .getResult(0);
}

/// The dimension of the channels.
unsigned channelsOf(const Convolution &convolution, OpOperand *operand) {
  linalg::GenericOp op = convolution.op;
  return *op.getMatchingIndexingMap(operand).getResultPosition(
      getAffineDimExpr(convolution.lastOf(operand), op.getContext()));
}

/// Of an image whose windows have one place, in steps of one: bytes of its places, all that follows the channels.
/// Nothing of others, and where they are of a type that is not read across.
std::optional<int64_t> bytesOfPlaces(const Convolution &convolution, OpOperand *operand) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto type = cast<RankedTensorType>(operand->get().getType());
  const unsigned channels = channelsOf(convolution, operand);
  const bool isRead = type.getElementTypeBitWidth() == 16 || (type.getElementType().isF32() && hasHopperTf32(op));
  if (convolution.isOfFilters || operand != convolution.image || !type.hasStaticShape() ||
      channels + 1 == type.getRank() || !isRead)
    return std::nullopt;
  SmallVector<AffineExpr> loops;
  for (auto [loop, size] : llvm::enumerate(sizes))
    loops.push_back(size == 1 ? getAffineConstantExpr(0, op.getContext()) : getAffineDimExpr(loop, op.getContext()));
  int64_t bytes = elementBytes(type.getElementType());
  for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults())) {
    AffineExpr index = simplifyAffineExpr(expr.replaceDims(loops), sizes.size(), 0);
    auto loop = dyn_cast<AffineDimExpr>(index);
    if ((!loop && index != getAffineConstantExpr(0, op.getContext())) ||
        type.getDimSize(dimension) != (loop ? sizes[loop.getPosition()] : 1))
      return std::nullopt;
    bytes *= dimension > channels ? type.getDimSize(dimension) : 1;
  }
  return borderAround(operand->get()) ? std::nullopt : std::optional(bytes);
}

constexpr int64_t kVectorBytes = 16;

/// Whether places of such an image are rows that are copied 16 bytes at a time: a side of a product of matrices that
/// lies across.
bool isOfOnePlace(const Convolution &convolution, OpOperand *operand) {
  const std::optional<int64_t> bytes = bytesOfPlaces(convolution, operand);
  return bytes && *bytes % kVectorBytes == 0;
}

/// Whether what the operand has last begins at vectors: tensor cores that turn others wait for each element.
bool liesInVectors(OpOperand *operand) {
  auto type = cast<RankedTensorType>(operand->get().getType());
  return type.getShape().back() * elementBytes(type.getElementType()) % kVectorBytes == 0;
}

/// Whether the operand lies as it is multiplied: tensor cores turn filters of 16 bits themselves, and images of such
/// places as are a product's rows.
bool isLast(const Convolution &convolution, OpOperand *operand) {
  linalg::GenericOp op = convolution.op;
  const AffineMap map = op.getMatchingIndexingMap(operand);
  const unsigned last = map.getNumResults() - 1;
  if (channelsOf(convolution, operand) == last || convolution.across)
    return channelsOf(convolution, operand) == last;
  const bool isTurned = cast<RankedTensorType>(operand->get().getType()).getElementTypeBitWidth() == 16;
  if (isOfOnePlace(convolution, operand))
    return true;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(last));
  return operand == convolution.filters && isTurned && loop && liesInVectors(operand) &&
         op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::parallel;
}

/// A gradient by filters whose last dimension is neither side's channels has the image's there, and is turned behind:
/// it is small.
void turnGradient(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || last.getPosition() == convolution.across->image || last.getPosition() == convolution.across->filters ||
      !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return;
  AffineExpr channels = getAffineDimExpr(convolution.across->image, op.getContext());
  turnResult(op, lastOrder(map.getNumResults(), *map.getResultPosition(channels)));
}

} // namespace

/// Of tf32 an image of one place whose places are no rows at vectors, such as 7 x 7: tiles of places of several images
/// are no boxes of a result either that has channels second. It has them last, and is turned behind.
static void turnPlaces(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const std::optional<int64_t> bytes = bytesOfPlaces(convolution, convolution.image);
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                  filters = op.getMatchingIndexingMap(convolution.filters);
  if (!bytes || *bytes % kVectorBytes == 0 || !getElementTypeOrSelf(convolution.image->get().getType()).isF32() ||
      !map.isProjectedPermutation() || !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return;
  std::optional<unsigned> channels; // of the result
  for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
    if (filters.isFunctionOfDim(map.getDimPosition(dimension))) {
      if (channels)
        return;
      channels = dimension;
    }
  if (channels && *channels + 1 != map.getNumResults())
    turnResult(op, lastOrder(map.getNumResults(), *channels));
}

void bringChannelsLast(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  turnPlaces(convolution);
  OpBuilder b(op);
  if (convolution.across)
    turnGradient(convolution);
  for (OpOperand *operand : {convolution.image, convolution.filters}) {
    if (isLast(convolution, operand))
      continue;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &map = maps[operand->getOperandNumber()];
    const SmallVector<int64_t> order = orderOf(convolution, operand);
    Value tensor = turnedBorder(b, operand->get(), order);
    operand->set(tensor ? tensor : turnedTo(b, op.getLoc(), operand->get(), order));
    map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

void bringLast(linalg::GenericOp op, OpOperand *operand, unsigned loop) {
  OpBuilder b(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand->getOperandNumber()];
  const SmallVector<int64_t> order = lastOrder(map.getNumResults(), *map.getResultPosition(b.getAffineDimExpr(loop)));
  Value tensor = turnedBorder(b, operand->get(), order);
  operand->set(tensor ? tensor : turnedTo(b, op.getLoc(), operand->get(), order));
  map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

bool readsPlacesAcross(const Convolution &convolution) {
  return !convolution.across && isOfOnePlace(convolution, convolution.image);
}

SmallVector<int64_t> orderOf(const Convolution &convolution, OpOperand *operand) {
  linalg::GenericOp op = convolution.op;
  const unsigned rank = op.getMatchingIndexingMap(operand).getNumResults();
  return lastOrder(rank, isLast(convolution, operand) ? rank - 1 : channelsOf(convolution, operand));
}

void bringEachChannelLast(linalg::GenericOp op) {
  // Two copies cost less than what lanes read across vectors.
  constexpr int64_t kLeastElements = 1 << 19;
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumDpsInputs() != 2 || !readsWindows(op))
    return;
  const std::optional<Contraction> product = isWindow(op) ? productOf(op) : std::nullopt;
  if (!product || product->batch.size() != 1 || !product->places.empty() ||
      llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic))
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  OpBuilder b(op);
  AffineExpr channels = b.getAffineDimExpr(product->batch.front());
  SmallVector<Value> operands = op.getDpsInputs();
  bool isOfFilters = false;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() < kLeastElements ||
        !maps[number].getResultPosition(channels) || maps[number].getResults().back() == channels)
      return;
    isOfFilters |= sumsOverPlaces(op, maps[number]);
  }
  if (!isOfFilters)
    return;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    const SmallVector<int64_t> order =
        lastOrder(maps[number].getNumResults(), *maps[number].getResultPosition(channels));
    Value tensor = turnedBorder(b, operand, order);
    operand = tensor ? tensor : turnedTo(b, op.getLoc(), operand, order);
    maps[number] =
        AffineMap::get(maps[number].getNumDims(), 0, inOrder(maps[number].getResults(), order), b.getContext());
  }
  auto last = cast<linalg::GenericOp>(b.clone(*op));
  last.getInputsMutable().assign(operands);
  last.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  const std::optional<Contraction> turned = productOf(last);
  if (turned && ChannelFilters::of(*turned))
    op.replaceAllUsesWith(last);
  else
    last->erase();
}

/// Whether it does as one that bringEachChannelLast() has made.
static bool readsEachChannelLast(linalg::GenericOp op, AffineMap read) {
  const std::optional<Contraction> product = isWindow(op) ? productOf(op) : std::nullopt;
  const std::optional<ChannelFilters> filters = product ? ChannelFilters::of(*product) : std::nullopt;
  return filters && read.getNumResults() != 0 &&
         read.getResults().back() == getAffineDimExpr(filters->channel, op.getContext());
}

bool readsChannelsLast(OpOperand &operand) {
  auto copy = operand.get().getDefiningOp<linalg::GenericOp>();
  auto op = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!copy || !op || !isCopy(copy) ||
      !llvm::all_of(copy.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); }))
    return false;
  const SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
  const bool isTurned = maps[0].getNumResults() != 0 && maps[0].getResults().back() != maps[1].getResults().back();
  if (isTurned && !op.isDpsInit(&operand) && readsEachChannelLast(op, op.getMatchingIndexingMap(&operand)))
    return true;
  if (isTurned && filtersBesideImage(op) == &operand)
    return true;
  const std::optional<Contraction> product = readsWindows(op) ? contractionOf(op) : std::nullopt;
  if (!product || !mayRoundForTensorCores(*product) || op.isDpsInit(&operand))
    return false;
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction)
    return bool(last);
  // Of a gradient by filters the channels of either side are parallel.
  return isTurned && getElementTypeOrSelf(operand.get().getType()).getIntOrFloatBitWidth() == 16 &&
         llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap each) { return sumsOverPlaces(op, each); });
}

} // namespace tenon::compiler::dispatch
