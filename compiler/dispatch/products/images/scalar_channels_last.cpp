// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/scalar_channels_last.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

/// Whether copies take less time than they save where threads multiply: they read whole vectors, and places of all
/// images are rows of one side, not of one side for each image.
static bool isWorthCopies(const Convolution &convolution, ArrayRef<int64_t> copied) {
  // An H200: multiplications in a microsecond, and elements of 4 bytes that are read and written. What is saved was
  // measured of rows of 7 to 56 places and of steps of two (benchmarks/results/conv_every_h200_2026_11_30e_cf32.md).
  constexpr double kMultiplications = 22e6, kElements = 3e6 / 8, kSaved = 0.25;
  double multiplications = 1, elements = 0;
  for (int64_t size : linalg::GenericOp(convolution.op).getStaticLoopRanges())
    multiplications *= double(size);
  for (int64_t each : copied)
    elements += double(each);
  return elements / kElements < kSaved * multiplications / kMultiplications;
}

void bringScalarChannelsLast(const Convolution &convolution) {
  constexpr int64_t kLeastChannels = 32, kVector = 4, kFewRows = 64, kTile = 128;
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || !factorTypeOf(product->left.value).isF32() || !factorTypeOf(product->right.value).isF32() ||
      !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return;
  auto expr = [&](unsigned loop) { return getAffineDimExpr(loop, op.getContext()); };
  const AffineMap image = op.getMatchingIndexingMap(convolution.image),
                  filters = op.getMatchingIndexingMap(convolution.filters), written = op.getIndexingMapsArray().back();
  const bool isOfFilters = convolution.isOfFilters,
             isLeft = product->left.inputs.front() == convolution.image->getOperandNumber();
  auto own = [&](bool isOfLeft, AffineMap map) -> std::optional<unsigned> {
    std::optional<unsigned> found;
    for (unsigned loop : isOfLeft ? product->rows : product->columns) {
      if (!map.getResultPosition(expr(loop)))
        continue;
      if (found)
        return std::nullopt;
      found = loop;
    }
    return found;
  };
  // What each side is read along. What is written along is the image's channels of a gradient by filters, else the
  // filters'.
  const std::optional<unsigned> ofFilters = own(!isLeft, filters),
                                ofImage = isOfFilters ? own(isLeft, image) : convolution.channels;
  auto isMany = [&](unsigned loop) { return sizes[loop] >= kLeastChannels && sizes[loop] % kVector == 0; };
  auto isLastIn = [&](AffineMap map, unsigned loop) { return map.getResults().back() == expr(loop); };
  if (!ofFilters || !ofImage || !isMany(*ofImage) || !isMany(*ofFilters) || !written.isProjectedPermutation() ||
      !image.getResultPosition(expr(*ofImage)) || isLastIn(image, *ofImage))
    return;
  // Windows of several places; along the last dimension in steps, or of rows that tiles of the result cut.
  unsigned most = 0;
  for (AffineExpr each : image.getResults())
    most = std::max<unsigned>(most, llvm::count_if(llvm::seq<unsigned>(0, sizes.size()), [&](unsigned loop) {
                                return sizes[loop] > 1 && each.isFunctionOfDim(loop);
                              }));
  if (most < 2)
    return;
  const unsigned last = isOfFilters ? *ofImage : *ofFilters;
  const bool isWritten = isLastIn(written, last);
  auto elementsOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumElements(); };
  SmallVector<int64_t> copied = {elementsOf(convolution.image->get())};
  if (isOfFilters) {
    // Small tiles gain nothing.
    if (sizes[*ofImage] <= kFewRows || sizes[*ofFilters] <= kFewRows ||
        !isa<AffineDimExpr>(filters.getResults().back()))
      return;
    copied.push_back(elementsOf(convolution.filters->get()));
  } else if (!isWritten) {
    const auto row = dyn_cast<AffineDimExpr>(written.getResults().back());
    const int64_t places = row ? sizes[row.getPosition()] : 1;
    const std::optional<LinearExpr> read = LinearExpr::of(image.getResults().back(), sizes.size());
    const bool hasSteps = row && read && std::abs(read->factors[row.getPosition()]) > 1;
    if (!hasSteps && (kTile % places == 0 || places % kTile == 0))
      return;
    copied.push_back(elementsOf(op.getResult(0)));
  }
  if (!isWorthCopies(convolution, copied))
    return;
  if (!isWritten)
    turnResult(op, lastOrder(written.getNumResults(), *written.getResultPosition(expr(last))));
  bringLast(op, convolution.image, *ofImage);
  if (!isLastIn(filters, *ofFilters) && !isLastIn(filters, convolution.channels))
    bringLast(op, convolution.filters, *ofFilters);
  // Loops as the result lies, and windows around channels: what follows each other is side by side in memory.
  SmallVector<unsigned> order;
  for (AffineExpr each : op.getIndexingMapsArray().back().getResults())
    order.push_back(cast<AffineDimExpr>(each).getPosition());
  for (unsigned loop : product->reduced)
    if (isOfFilters || loop != convolution.channels)
      order.push_back(loop);
  if (!isOfFilters)
    order.push_back(convolution.channels);
  IRRewriter rewriter(op);
  if (order.size() == sizes.size())
    (void)linalg::interchangeGenericOp(rewriter, op, order);
}

} // namespace tenon::compiler::dispatch
