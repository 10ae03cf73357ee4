// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/repeated_channels.h"

#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/images/turned_filters.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of more results of a channel tiles are fuller; the copy has no more elements than so many times the result.
constexpr int64_t kMostOfChannel = 8, kMostOfResult = 4;
// Fewer multiplications are over before a copy is.
constexpr double kLeastMultiplications = 1 << 22;

/// The loops of the channels, and of what each has several results of.
struct Channels {
  unsigned group, of;
};

std::optional<Channels> channelsOf(linalg::GenericOp op, const Contraction &product, AffineMap image,
                                   AffineMap filters) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto at = [&](AffineMap map, unsigned loop) {
    return map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
  };
  // All that is summed is the window.
  for (unsigned loop : product.reduced)
    if (!at(filters, loop) || (sizes[loop] != 1 && (at(image, loop) || !image.isFunctionOfDim(loop))))
      return std::nullopt;
  if (product.batch.size() != 1 || !at(image, product.batch.front()) || !at(filters, product.batch.front()))
    return std::nullopt;
  std::optional<unsigned> of;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type != utils::IteratorType::parallel || !filters.isFunctionOfDim(loop) || loop == product.batch.front())
      continue;
    if (of || image.isFunctionOfDim(loop))
      return std::nullopt;
    of = unsigned(loop);
  }
  return of && sizes[*of] > 1 && sizes[*of] <= kMostOfChannel ? std::optional(Channels{product.batch.front(), *of})
                                                              : std::nullopt;
}

/// The filters in the order of the image: windows, and channels before them or behind.
void orderFilters(linalg::GenericOp op, OpOperand *filters, const Channels &channels, bool areLast) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[filters->getOperandNumber()];
  SmallVector<int64_t> order;
  for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
    if (const unsigned loop = map.getDimPosition(dimension); loop != channels.group && loop != channels.of)
      order.push_back(dimension);
  SmallVector<int64_t> both;
  for (unsigned loop : {channels.group, channels.of})
    both.push_back(*map.getResultPosition(getAffineDimExpr(loop, op.getContext())));
  order.insert(areLast ? order.end() : order.begin(), both.begin(), both.end());
  if (llvm::is_sorted(order))
    return;
  OpBuilder b(op);
  map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), op.getContext());
  filters->set(turnedTo(b, op.getLoc(), filters->get(), order));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

} // namespace

bool repeatChannels(linalg::GenericOp op) {
  const std::optional<Contraction> product = productOf(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!product || product->isRouted() || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1 || op.hasIndexSemantics() || llvm::is_contained(sizes, ShapedType::kDynamic))
    return false;
  OpOperand *image = nullptr, *filters = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    (op.getMatchingIndexingMap(input).isProjectedPermutation() ? filters : image) = input;
  if (!image || !filters)
    return false;
  const AffineMap read = op.getMatchingIndexingMap(image);
  const std::optional<Channels> channels = channelsOf(op, *product, read, op.getMatchingIndexingMap(filters));
  auto type = cast<RankedTensorType>(image->get().getType());
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  double multiplications = 1;
  for (int64_t size : sizes)
    multiplications *= double(size);
  if (!channels || !type.hasStaticShape() || multiplications < kLeastMultiplications ||
      type.getNumElements() * sizes[channels->of] > kMostOfResult * result.getNumElements())
    return false;
  OpBuilder b(op);
  AffineExpr group = b.getAffineDimExpr(channels->group);
  const unsigned at = *read.getResultPosition(group) + 1;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + at, sizes[channels->of]);
  Value tensor = image->get(), inside = insideOfBorder(tensor);
  Value repeated =
      buildTensor(b, op.getLoc(), ArrayRef<int64_t>(shape), type.getElementType(),
                  [&](OpBuilder &inner, ArrayRef<Value> written) -> Value {
                    SmallVector<Value> place(written);
                    place.erase(place.begin() + at);
                    return readImage(inner, tensor, place, [&](OpBuilder &each, ValueRange indices) -> Value {
                      return tensor::ExtractOp::create(each, op.getLoc(), inside, indices);
                    });
                  });
  repeated.getDefiningOp()->setAttr(kOwnKernelAttr, b.getUnitAttr());
  SmallVector<AffineExpr> places(read.getResults());
  places.insert(places.begin() + at, b.getAffineDimExpr(channels->of));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[image->getOperandNumber()] = AffineMap::get(read.getNumDims(), 0, places, op.getContext());
  image->set(repeated);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  readBackwards(op);
  const bool areLast =
      llvm::all_of(read.getResults().drop_front(at), [](AffineExpr expr) { return isa<AffineDimExpr>(expr); });
  orderFilters(op, filters, *channels, areLast);
  return true;
}

} // namespace tenon::compiler::dispatch
