// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/channels_last.h"

#include "compiler/dispatch/analysis/contraction.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The order of dimensions with one of them last.
SmallVector<int64_t> lastOrder(unsigned rank, unsigned dimension) {
  SmallVector<int64_t> order;
  for (unsigned i = 0; i < rank; ++i)
    if (i != dimension)
      order.push_back(i);
  order.push_back(dimension);
  return order;
}

template <typename T> SmallVector<T> inOrder(ArrayRef<T> values, ArrayRef<int64_t> order) {
  return llvm::to_vector(llvm::map_range(order, [&](int64_t from) { return values[from]; }));
}

Value turned(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, inOrder(type.getShape(), order), type.getElementType());
  return linalg::TransposeOp::create(b, loc, tensor, empty, order)->getResult(0);
}

/// The image with a border, turned: a border around the turned image. Null where the tensor is no such.
Value turnedBorder(OpBuilder &b, Value tensor, ArrayRef<int64_t> order) {
  linalg::GenericOp border = borderAround(tensor);
  if (!border)
    return {};
  const Location loc = border.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto read = *border.getBody()->getOps<tensor::ExtractOp>().begin();
  Value image = turned(b, loc, read.getTensor(), order);
  const SmallVector<int64_t> shape = inOrder(type.getShape(), order);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
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

/// Whether the operand lies as it is multiplied: tensor cores turn filters of 16 bits themselves.
bool isLast(const Convolution &convolution, OpOperand *operand) {
  linalg::GenericOp op = convolution.op;
  const AffineMap map = op.getMatchingIndexingMap(operand);
  const unsigned last = map.getNumResults() - 1;
  if (channelsOf(convolution, operand) == last || convolution.across)
    return channelsOf(convolution, operand) == last;
  const bool isTurned = cast<RankedTensorType>(operand->get().getType()).getElementTypeBitWidth() == 16;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(last));
  return operand == convolution.filters && isTurned && loop &&
         op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::parallel;
}

/// A gradient by filters whose last dimension is neither side's channels has the image's there, and is turned behind:
/// it is small.
void turnResult(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  OpBuilder b(op);
  OpOperand *start = op.getDpsInitOperand(0);
  const AffineMap map = op.getMatchingIndexingMap(start);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  auto fill = start->get().getDefiningOp<linalg::FillOp>();
  if (!last || last.getPosition() == convolution.across->image || last.getPosition() == convolution.across->filters ||
      !fill)
    return;
  const SmallVector<int64_t> order =
      lastOrder(map.getNumResults(), *map.getResultPosition(b.getAffineDimExpr(convolution.across->image)));
  const Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(start->get().getType());
  Value empty = tensor::EmptyOp::create(b, loc, inOrder(type.getShape(), order), type.getElementType());
  start->set(linalg::FillOp::create(b, loc, fill.getInputs()[0], empty).getResult(0));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  Value result = op.getResult(0);
  result.setType(start->get().getType());
  b.setInsertionPointAfter(op);
  Value whole = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto turned = linalg::TransposeOp::create(b, loc, result, whole, invertPermutationVector(order));
  result.replaceAllUsesExcept(turned->getResult(0), turned);
}

} // namespace

void bringChannelsLast(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  OpBuilder b(op);
  if (convolution.across)
    turnResult(convolution);
  for (OpOperand *operand : {convolution.image, convolution.filters}) {
    if (isLast(convolution, operand))
      continue;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &map = maps[operand->getOperandNumber()];
    const SmallVector<int64_t> order = lastOrder(map.getNumResults(), channelsOf(convolution, operand));
    Value tensor = turnedBorder(b, operand->get(), order);
    operand->set(tensor ? tensor : turned(b, op.getLoc(), operand->get(), order));
    map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

bool readsChannelsLast(OpOperand &operand) {
  auto copy = operand.get().getDefiningOp<linalg::GenericOp>();
  auto op = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!copy || !op || copy.getNumDpsInputs() != 1 || !llvm::hasSingleElement(*copy.getBody()) ||
      copy.getBody()->getTerminator()->getOperand(0) != copy.getBody()->getArgument(0) ||
      !llvm::all_of(copy.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); }))
    return false;
  const std::optional<Contraction> product = readsWindows(op) ? contractionOf(op) : std::nullopt;
  if (!product || !mayRoundForTensorCores(*product) || op.isDpsInit(&operand))
    return false;
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction)
    return bool(last);
  // Of a gradient by filters the channels of either side are parallel.
  const SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
  return maps[0].getResults().back() != maps[1].getResults().back() &&
         getElementTypeOrSelf(operand.get().getType()).getIntOrFloatBitWidth() == 16 &&
         llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap each) { return sumsOverPlaces(op, each); });
}

} // namespace tenon::compiler::dispatch
