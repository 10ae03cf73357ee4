// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/image_borders.h"

#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/convolutions/grouped.h"
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

bool isBorder(linalg::GenericOp producer) {
  constexpr unsigned kMostWork = 48; // of the place, and of the question whether it is inside
  unsigned reads = 0, work = 0;
  for (Operation &op : producer.getBody()->without_terminator()) {
    reads += isa<tensor::ExtractOp>(op);
    if (op.getNumRegions() != 0 || isa<math::MathDialect>(op.getDialect()) || ++work > kMostWork)
      return false;
  }
  return reads == 1 && producer->getNumResults() == 1 && producer.getNumDpsInputs() == 0 &&
         producer.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
}

static constexpr int64_t kVectorBytes = 16;
// Of a smaller image of f32 the border is stored sooner than threads have asked of each vector whether it is inside
// (measured on an H200: 14 x 14, 256 channels, by the image 185 us, and 189 without a border; 56 x 56, 64 channels 195
// and 184).
static constexpr int64_t kLeastOfExact = 8 << 20;

bool isBorderOfProduct(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  const std::optional<Contraction> product = contractionOf(consumer);
  if (!product || consumer.isDpsInit(operand))
    return false;
  BlockArgument read = consumer.getMatchingBlockArgument(operand);
  if (llvm::none_of(ArrayRef<const ContractionSide *>{&product->left, &product->right},
                    [&](const ContractionSide *side) { return beforeExtension(side->value) == read; }))
    return false;
  const AffineMap map = consumer.getMatchingIndexingMap(operand);
  auto channel = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() == 0 ? AffineExpr() : map.getResults().back());
  const std::optional<Border> border = borderOfUnknown(producer.getBody()->getTerminator()->getOperand(0), producer);
  if (!border || map.isProjectedPermutation())
    return false;
  auto image = cast<RankedTensorType>(border->image.getType());
  const bool isKnown = image.hasStaticShape();
  // Many groups at once: patches of the image are brought to shared memory, whatever they lie like.
  if (GroupedWindows::of(*product) || GroupedFilters::of(*product))
    return isKnown;
  const bool isOnCores = mayRoundForTensorCores(*product), isOfFilters = sumsOverPlaces(consumer, map);
  if (!isKnown && isOfFilters)
    return false;
  const bool isLarge = !isKnown || image.getNumElements() * elementBytes(image.getElementType()) >= kLeastOfExact;
  const bool isExact = !isOnCores && image.getElementType().isF32() && (isLarge || isOfFilters);
  if (!channel || (!isOnCores && !isExact))
    return false;
  // Of a gradient by filters the channels are not summed over.
  const bool mayLieAcross = isExact || image.getElementTypeBitWidth() == 16 || image.getElementType().isF32();
  if (!llvm::is_contained(product->reduced, channel.getPosition()) && !(mayLieAcross && isOfFilters))
    return false;
  return image.getShape().back() * elementBytes(image.getElementType()) % kVectorBytes == 0;
}

} // namespace tenon::compiler::dispatch
