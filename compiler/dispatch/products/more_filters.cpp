// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/more_filters.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/products/longer_tensors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kVectorBytes = 16;
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

} // namespace tenon::compiler::dispatch
