// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/more_filters.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/longer_tensors.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kVectorBytes = 16, kLineBytes = 128;
// Of fewer, what is a part of the sum is no tile (analysis/products/contraction.h).
constexpr int64_t kLeastFilters = 16;
// Of one filter: channels, and products of a result, that threads take longer for.
constexpr int64_t kLeastChannels = 16, kLeastProducts = 128;

/// A loop that is to be longer.
struct Longer {
  unsigned loop;
  int64_t size;
};

std::optional<Longer> filtersOfGradient(const Convolution &convolution, ArrayRef<int64_t> sizes, int64_t inVector) {
  const unsigned loop = convolution.across->filters;
  if (sizes[loop] % inVector == 0)
    return std::nullopt;
  return Longer{loop, std::max(kLeastFilters, int64_t(llvm::alignTo(sizes[loop], inVector)))};
}

/// The loop of the only filter that an image is convolved with.
std::optional<Longer> vectorOfOne(const Convolution &convolution, ArrayRef<int64_t> sizes, int64_t inVector) {
  linalg::GenericOp op = convolution.op;
  const AffineMap filters = op.getMatchingIndexingMap(convolution.filters),
                  written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> one;
  int64_t products = 1;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    AffineExpr expr = getAffineDimExpr(loop, op.getContext());
    if (type == utils::IteratorType::reduction)
      products *= sizes[loop];
    else if (!filters.isFunctionOfDim(loop))
      continue;
    else if (sizes[loop] != 1)
      return std::nullopt; // several, or groups
    else if (filters.getResultPosition(expr) && written.getResultPosition(expr) &&
             !op.getMatchingIndexingMap(convolution.image).isFunctionOfDim(loop))
      one = loop;
  }
  return one && sizes[convolution.channels] >= kLeastChannels && products >= kLeastProducts
             ? std::optional(Longer{*one, inVector})
             : std::nullopt;
}

/// How many columns the window of a gradient by filters has, whose places lie side by side; nothing where they do not.
std::optional<int64_t> columnsInStepsOfOne(linalg::GenericOp op, AffineMap image) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<int64_t> columns;
  for (AffineExpr expr : image.getResults()) {
    if (isa<AffineDimExpr>(expr))
      continue;
    const std::optional<LinearExpr> sum = LinearExpr::of(expr, sizes.size());
    if (!sum)
      return std::nullopt;
    for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
      const bool isPlace = op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
      if (factor != 0 && isPlace && factor != 1)
        return std::nullopt;
      if (factor != 0 && !isPlace)
        columns = sizes[loop];
    }
  }
  return columns;
}

/// The same shape, where the dimension that is the loop is longer.
SmallVector<int64_t> lengthened(Value tensor, AffineMap map, const Longer &longer) {
  SmallVector<int64_t> shape = llvm::to_vector(cast<RankedTensorType>(tensor.getType()).getShape());
  shape[*map.getResultPosition(getAffineDimExpr(longer.loop, map.getContext()))] = longer.size;
  return shape;
}

} // namespace

void addFilters(Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!convolution.isOnCores || (convolution.isOfFilters && !convolution.across) || op.hasIndexSemantics() ||
      llvm::is_contained(sizes, ShapedType::kDynamic) || !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return;
  OpOperand *filters = convolution.filters;
  const int64_t inVector = kVectorBytes / elementBytes(getElementTypeOrSelf(filters->get().getType()));
  const std::optional<Longer> longer = convolution.isOfFilters ? filtersOfGradient(convolution, sizes, inVector)
                                                               : vectorOfOne(convolution, sizes, inVector);
  if (!longer)
    return;
  OpBuilder b(op);
  filters->set(lengthenedCopy(b, op.getLoc(), filters->get(),
                              lengthened(filters->get(), op.getMatchingIndexingMap(filters), *longer)));
  widenResult(op, lengthened(op.getResult(0), op.getMatchingIndexingMap(op.getDpsInitOperand(0)), *longer));
}

bool addChannels(Convolution &convolution) {
  constexpr double kMostLonger = 4.0 / 3, kMostBesideColumns = 1.2;
  linalg::GenericOp op = convolution.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!convolution.across || op.hasIndexSemantics() || llvm::is_contained(sizes, ShapedType::kDynamic) ||
      !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return false;
  OpOperand *image = convolution.image;
  const unsigned loop = convolution.across->image;
  const Type element = getElementTypeOrSelf(image->get().getType());
  const int64_t channels = sizes[loop], longer = int64_t(llvm::alignTo(channels, kLineBytes / elementBytes(element)));
  const std::optional<int64_t> columns = columnsInStepsOfOne(op, op.getMatchingIndexingMap(image));
  const auto line = int64_t(kLineBytes / elementBytes(element));
  if (longer == channels || double(longer) > kMostLonger * double(channels) || !columns ||
      double(*columns * longer) > kMostBesideColumns * double(llvm::alignTo(uint64_t(*columns * channels), line)))
    return false;
  AffineExpr expr = getAffineDimExpr(loop, op.getContext());
  if (op.getMatchingIndexingMap(image).getResults().back() != expr)
    bringLast(op, image, loop);
  OpBuilder b(op);
  const Location loc = op.getLoc();
  Value tensor = image->get(), inside = insideOfBorder(tensor);
  const Longer all{loop, longer};
  image->set(buildTensor(b, loc, ArrayRef<int64_t>(lengthened(tensor, op.getMatchingIndexingMap(image), all)), element,
                         [&](OpBuilder &inner, ArrayRef<Value> at) -> Value {
                           PlaceMath math(inner, loc);
                           SmallVector<Value> place(at);
                           place.back() = arith::MinSIOp::create(inner, loc, at.back(), math.number(channels - 1));
                           Value value =
                               readImage(inner, tensor, place, [&](OpBuilder &each, ValueRange indices) -> Value {
                                 return tensor::ExtractOp::create(each, loc, inside, indices);
                               });
                           Value zero = arith::ConstantOp::create(inner, loc, inner.getZeroAttr(element));
                           return arith::SelectOp::create(inner, loc, math.isBelow(at.back(), channels), value, zero);
                         }));
  widenResult(op, lengthened(op.getResult(0), op.getMatchingIndexingMap(op.getDpsInitOperand(0)), all));
  return true;
}

} // namespace tenon::compiler::dispatch
