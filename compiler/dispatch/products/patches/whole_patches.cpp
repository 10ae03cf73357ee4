// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/whole_patches.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// More are copied with the channels last, which other rules know (images/channels_last.h).
constexpr int64_t kMostChannels = 16, kVectorBytes = 16;

/// A dimension of the image: of one loop, or of a window's place and the place in it.
struct Part {
  unsigned loop;
  std::optional<unsigned> inWindow;
};

/// Nothing where windows overlap, leave elements out, or are moved or widened.
std::optional<SmallVector<Part>> partsOf(linalg::GenericOp op, OpOperand *image) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto type = cast<RankedTensorType>(image->get().getType());
  SmallVector<Part> parts;
  llvm::SmallBitVector seen(op.getNumLoops());
  auto isNew = [&](unsigned loop) { return seen.test(loop) ? false : (seen.set(loop), true); };
  for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(image).getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      // MLIR takes a loop's size from the first operand that has it; another one may not know it.
      if (!isNew(loop.getPosition()) || type.getDimSize(int64_t(dimension)) != sizes[loop.getPosition()])
        return std::nullopt;
      parts.push_back({loop.getPosition(), std::nullopt});
      continue;
    }
    const std::optional<LinearExpr> sum = LinearExpr::of(expr, op.getNumLoops());
    if (!sum || sum->offset != 0)
      return std::nullopt;
    std::optional<unsigned> window, inWindow;
    for (auto [loop, factor] : llvm::enumerate(sum->factors))
      if (factor != 0) {
        std::optional<unsigned> &found = types[loop] == utils::IteratorType::reduction ? inWindow : window;
        if (found || !isNew(unsigned(loop)))
          return std::nullopt;
        found = unsigned(loop);
      }
    const bool areBeside = window && inWindow && sum->factors[*inWindow] == 1 && sizes[*inWindow] > 1 &&
                           sum->factors[*window] == sizes[*inWindow] &&
                           sizes[*window] * sizes[*inWindow] == type.getDimSize(int64_t(dimension));
    if (!areBeside || ShapedType::isDynamic(sizes[*window]) || ShapedType::isDynamic(sizes[*inWindow]))
      return std::nullopt;
    parts.push_back({*window, inWindow});
  }
  return parts;
}

/// The image with its patches apart.
Value dividedOf(OpBuilder &b, Location loc, Value image, ArrayRef<Part> parts, ArrayRef<int64_t> sizes,
                SmallVector<unsigned> &loops) {
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> shape;
  SmallVector<int64_t> known;
  for (auto [dimension, part] : llvm::enumerate(parts)) {
    ReassociationIndices &group = groups.emplace_back();
    auto add = [&](unsigned loop) {
      group.push_back(int64_t(loops.size()));
      loops.push_back(loop);
      known.push_back(sizes[loop]);
      shape.push_back(ShapedType::isDynamic(sizes[loop]) ? OpFoldResult(dimensionOf(b, loc, image, int64_t(dimension)))
                                                         : OpFoldResult(b.getIndexAttr(sizes[loop])));
    };
    add(part.loop);
    if (part.inWindow)
      add(*part.inWindow);
  }
  auto type = RankedTensorType::get(known, getElementTypeOrSelf(image));
  return tensor::ExpandShapeOp::create(b, loc, type, image, groups, shape);
}

} // namespace

linalg::GenericOp multiplyPatches(linalg::GenericOp op) {
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || !mayRoundForTensorCores(*product) || op.getNumDpsInputs() != 2 || product->left.border ||
      product->right.border || !product->batch.empty())
    return {};
  OpOperand *image = nullptr, *filters = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    (op.getMatchingIndexingMap(input).isProjectedPermutation() ? filters : image) = input;
  if (!image || !filters)
    return {};
  const std::optional<SmallVector<Part>> parts = partsOf(op, image);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  if (!parts)
    return {};
  size_t summed = 0; // loops, of which the image has all
  for (const Part &part : *parts)
    summed += bool(part.inWindow) + (types[part.loop] == utils::IteratorType::reduction);
  int64_t channels = 1;
  for (const Part &part : *parts)
    if (!part.inWindow && types[part.loop] == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(sizes[part.loop]))
        return {};
      channels *= sizes[part.loop];
    }
  // Elements of a patch in the order of the filters', behind the patches in the image's.
  SmallVector<unsigned> order;
  auto isPlace = [&](const Part &part) { return types[part.loop] == utils::IteratorType::parallel; };
  const bool hasSeveral =
      llvm::any_of(*parts, [&](const Part &part) { return isPlace(part) && sizes[part.loop] != 1; });
  for (const Part &part : *parts)
    if (isPlace(part) && (!hasSeveral || sizes[part.loop] != 1))
      order.push_back(part.loop);
  const size_t placesOfPatches = order.size();
  int64_t elements = 1;
  for (AffineExpr expr : op.getMatchingIndexingMap(filters).getResults())
    if (const unsigned loop = cast<AffineDimExpr>(expr).getPosition(); types[loop] == utils::IteratorType::reduction) {
      order.push_back(loop);
      elements *= sizes[loop];
    }
  const auto bytes = int64_t(elementBytes(getElementTypeOrSelf(image->get())));
  if (channels > kMostChannels || elements * bytes % kVectorBytes != 0 || summed != op.getNumReductionLoops() ||
      order.size() != placesOfPatches + summed)
    return {};

  OpBuilder b(op);
  SmallVector<unsigned> loops;
  Value divided = dividedOf(b, op.getLoc(), image->get(), *parts, sizes, loops);
  SmallVector<AffineExpr> read(loops.size(), b.getAffineConstantExpr(0));
  SmallVector<OpFoldResult> shape;
  SmallVector<AffineExpr> places;
  const auto apart = cast<tensor::ExpandShapeOp>(divided.getDefiningOp()).getMixedOutputShape();
  for (auto [position, loop] : llvm::enumerate(order)) {
    const size_t dimension = llvm::find(loops, loop) - loops.begin();
    assert(dimension < loops.size() && "the image has every loop of the sum");
    read[dimension] = b.getAffineDimExpr(unsigned(position));
    shape.push_back(apart[dimension]);
    places.push_back(b.getAffineDimExpr(loop));
  }
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), shape, getElementTypeOrSelf(divided));
  auto patches = linalg::GenericOp::create(
      b, op.getLoc(), empty.getType(), divided, empty,
      ArrayRef<AffineMap>{AffineMap::get(unsigned(order.size()), 0, read, op.getContext()),
                          b.getMultiDimIdentityMap(unsigned(order.size()))},
      SmallVector<utils::IteratorType>(order.size(), utils::IteratorType::parallel),
      [](OpBuilder &inside, Location loc, ValueRange x) { linalg::YieldOp::create(inside, loc, x[0]); });
  // A row of a window is no vector: tiles of tf32 would read each element, as often as there are tiles of filters.
  patches->setAttr(kOwnKernelAttr, b.getUnitAttr());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[image->getOperandNumber()] = AffineMap::get(op.getNumLoops(), 0, places, op.getContext());
  image->set(patches.getResult(0));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  return op;
}

void dropSingleImage(linalg::GenericOp op) {
  OpBuilder b(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isOne = [&](unsigned loop) {
    return sizes[loop] == 1 && llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
             return op.getMatchingIndexingMap(input).isFunctionOfDim(loop);
           });
  };
  SmallVector<AffineExpr> loops;
  SmallVector<utils::IteratorType> types;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    loops.push_back(isOne(unsigned(loop)) ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(unsigned(types.size())));
    if (!isOne(unsigned(loop)))
      types.push_back(type);
  }
  if (types.size() == loops.size())
    return;
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(map.replaceDimsAndSymbols(loops, {}, unsigned(types.size()), 0));
  auto product =
      linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(), op.getDpsInputs(), op.getDpsInits(), maps, types);
  product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  product.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(product->getResults());
  op->erase();
}

} // namespace tenon::compiler::dispatch
