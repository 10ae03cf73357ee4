// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/convolution.h"

#include "compiler/dialect/tile_side.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Convolutions of fewer multiplications are over before a copy is. Tensor cores wait for elements that are read one by
// one: 32 images 7 x 7 of 128 channels, 58 million multiplications for 32 of them, took 94 us on an H200 without
// copies.
constexpr double kLeastMultiplications = 1 << 26, kLeastOnCores = 1 << 22;
constexpr int64_t kLeastBytes = 64, kVectorBytes = 16, kLineBytes = 128;
// Images that a program is taken to have which does not say how many, and places of each along an axis.
constexpr int64_t kAssumedImages = 8, kAssumedPlaces = 64;

/// The operand that the side is, but for an extension; null where it is computed.
OpOperand *operandOf(const ContractionSide &side, linalg::GenericOp op) {
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  return argument && argument.getOwner() == op.getBody() && int64_t(argument.getArgNumber()) < op.getNumDpsInputs()
             ? op.getDpsInputOperand(argument.getArgNumber())
             : nullptr;
}

/// Of a convolution, named or generic.
bool mayBeConvolution(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() >= 2 && op.getNumDpsInputs() == 2 &&
         op->getNumResults() == 1;
}

/// Whether tensor cores take elements of the type that are adjacent across.
bool isTurned(Type element) {
  return element.getIntOrFloatBitWidth() == 16;
}

bool isLarge(linalg::GenericOp op, bool isOnCores) {
  auto assumed = [&](unsigned loop) {
    const bool isPlace = llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return llvm::any_of(map.getResults(),
                          [&](AffineExpr expr) { return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop); });
    });
    return isPlace ? kAssumedPlaces : kAssumedImages;
  };
  double multiplications = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    multiplications *= double(ShapedType::isDynamic(size) ? assumed(loop) : size);
  return multiplications >= (isOnCores ? kLeastOnCores : kLeastMultiplications);
}

/// Whether all sizes of an operand are known, but for how many images there are, and how large they are.
bool isKnown(linalg::GenericOp op, OpOperand *operand, bool isImage) {
  auto type = cast<RankedTensorType>(operand->get().getType());
  for (auto [expr, size] : llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(), type.getShape())) {
    if (!ShapedType::isDynamic(size))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!isImage || (loop && op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction))
      return false;
  }
  return true;
}

/// The parallel loop that an operand alone has, as it stands; nothing where there are several.
std::optional<unsigned> ownLoopOf(ArrayRef<unsigned> loops, AffineMap map) {
  std::optional<unsigned> own;
  for (unsigned loop : loops) {
    if (!map.getResultPosition(getAffineDimExpr(loop, map.getContext())))
      continue;
    if (own)
      return std::nullopt;
    own = loop;
  }
  return own;
}

/// The sum that is over neither a row of the window nor a column. Of a gradient by filters whose elements are turned it
/// is one of those: windows of one row, or whose columns are channels, sum over several.
std::optional<unsigned> channelsOf(const Contraction &product, AffineMap image, AffineMap filters, bool maySumMore) {
  std::optional<unsigned> channels;
  for (unsigned loop : product.reduced) {
    AffineExpr expr = getAffineDimExpr(loop, image.getContext());
    if (!image.getResultPosition(expr) || !filters.getResultPosition(expr))
      continue;
    if (channels && !maySumMore)
      return std::nullopt;
    channels = channels.value_or(loop);
  }
  return channels;
}

} // namespace

linalg::GenericOp genericWindowOf(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (generic || !linalg::isaConvolutionOpInterface(op) || !mayBeConvolution(op))
    return generic;
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  const Attribute side = op->getAttr(kTileSideAttr);
  FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
  if (succeeded(made) && side)
    (*made)->setAttr(kTileSideAttr, side);
  return succeeded(made) ? *made : linalg::GenericOp();
}

std::optional<Convolution> Convolution::of(linalg::GenericOp op) {
  std::optional<Convolution> found = ofUnknownImages(op);
  return found && !llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) ? found : std::nullopt;
}

std::optional<Convolution> Convolution::ofUnknownImages(linalg::GenericOp op) {
  if (!mayBeConvolution(op) || !readsWindows(op))
    return std::nullopt;
  const std::optional<Contraction> product = contractionOf(op);
  if (!product)
    return std::nullopt;
  Convolution found{op};
  found.isOnCores = mayRoundForTensorCores(*product);
  if ((found.isOnCores || !op->hasAttr(kTileSideAttr)) && !isLarge(op, found.isOnCores))
    return std::nullopt;
  for (const ContractionSide *side : {&product->left, &product->right}) {
    OpOperand *operand = operandOf(*side, op);
    if (!operand)
      return std::nullopt;
    const bool isImage = !op.getMatchingIndexingMap(operand).isProjectedPermutation();
    if (!isKnown(op, operand, isImage))
      return std::nullopt;
    (isImage ? found.image : found.filters) = operand;
  }
  if (!found.image || !found.filters)
    return std::nullopt;
  const AffineMap image = op.getMatchingIndexingMap(found.image), other = op.getMatchingIndexingMap(found.filters);
  const bool isOfTurned = sumsOverPlaces(op, image) && isTurned(getElementTypeOrSelf(found.image->get().getType()));
  const std::optional<unsigned> channels = channelsOf(*product, image, other, isOfTurned);
  if (!channels)
    return std::nullopt;
  found.channels = *channels;
  AffineExpr images = getAffineDimExpr(*channels, op.getContext());
  // A window as large as its image sums over its places, too; there channels are last, or could be.
  found.isOfFilters =
      sumsOverPlaces(op, image) && image.getResults().back() != images && other.getResults().back() != images;
  if (found.isOfFilters && isTurned(getElementTypeOrSelf(found.image->get().getType()))) {
    const bool isLeft = product->left.inputs.front() == found.image->getOperandNumber();
    const std::optional<unsigned> ofImage = ownLoopOf(isLeft ? product->rows : product->columns, image),
                                  ofFilters = ownLoopOf(isLeft ? product->columns : product->rows, other);
    if (!ofImage || !ofFilters)
      return std::nullopt;
    found.across = Across{*ofImage, *ofFilters};
  }
  return found;
}

bool Convolution::hasManyChannels() const {
  linalg::GenericOp generic = op;
  const Type element = cast<RankedTensorType>(image->get().getType()).getElementType();
  const SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  if (across)
    return sizes[across->image] * elementBytes(element) % kLineBytes == 0 &&
           sizes[across->filters] * elementBytes(element) % kVectorBytes == 0;
  const int64_t bytes = sizes[channels] * elementBytes(element);
  return bytes >= kLeastBytes && bytes % kVectorBytes == 0;
}

linalg::GenericOp borderAround(Value tensor) {
  auto border = tensor.getDefiningOp<linalg::GenericOp>();
  const bool isBorder = border && border->hasOneUse() && border.getNumDpsInputs() == 0 &&
                        border->getNumResults() == 1 && border.getIndexingMapsArray().front().isIdentity() &&
                        borderOf(border.getBody()->getTerminator()->getOperand(0), border);
  return isBorder ? border : linalg::GenericOp();
}

} // namespace tenon::compiler::dispatch
