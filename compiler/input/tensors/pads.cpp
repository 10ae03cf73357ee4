// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors put together from others, side by side: what lies around a tensor (pad), or behind it (concat).
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

OpFoldResult sumOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> parts) {
  AffineExpr sum = b.getAffineConstantExpr(0);
  for (unsigned part = 0; part < parts.size(); ++part)
    sum = sum + b.getAffineSymbolExpr(part);
  return affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, parts.size(), sum), parts);
}

/// A size as the type states it, where it does.
OpFoldResult sizeOf(OpBuilder &b, RankedTensorType type, unsigned dimension, OpFoldResult computed) {
  return type.isDynamicDim(dimension) ? computed : OpFoldResult(b.getIndexAttr(type.getDimSize(dimension)));
}

struct LowerPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    if (!op.getRegion().hasOneBlock())
      return failure();
    const Location where = op.getLoc();
    const Window source(rewriter, where, op.getSource());
    const SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
    SmallVector<OpFoldResult> sizes;
    for (unsigned dimension = 0; dimension < source.sizes.size(); ++dimension)
      sizes.push_back(sizeOf(rewriter, op.getResultType(), dimension,
                             sumOf(rewriter, where, {low[dimension], source.sizes[dimension], high[dimension]})));
    const bool isEmpty = op.getSourceType().hasStaticShape() && op.getSourceType().getNumElements() == 0;
    Value result =
        buildElements(rewriter, where, op.getResultType(), sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          IRMapping mapping;
          mapping.map(op.getRegion().getArguments(), indices);
          for (Operation &inner : op.getBody()->without_terminator())
            b.clone(inner, mapping);
          Value outside = mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
          if (isEmpty)
            return outside;
          Window window = source;
          for (unsigned dimension = 0; dimension < indices.size(); ++dimension) {
            const bool isPadded = !isZeroInteger(low[dimension]) || !isZeroInteger(high[dimension]);
            Value place = subtractIndex(b, loc, indices[dimension], low[dimension]);
            window.add(b, loc, place, isPadded ? isBelow(b, loc, place, source.sizes[dimension]) : Value());
          }
          return window.read(b, loc, outside);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A body that reads a padded tensor where its loops are, and these end in front of the padding, reads what was padded:
/// so importers write the average of a whole image.
struct ReadInsideOfPad : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getTensor().getDefiningOp<tensor::PadOp>();
    if (!pad)
      return failure();
    for (auto [index, low, high, size] :
         llvm::zip_equal(op.getIndices(), pad.getMixedLowPad(), pad.getMixedHighPad(), pad.getSourceType().getShape()))
      if (!isZeroInteger(low) || (!isZeroInteger(high) && !isBelowLoop(index, size)))
        return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getTensorMutable().assign(pad.getSource()); });
    return success();
  }

private:
  /// Whether the index is that of a loop over no more than `size`.
  static bool isBelowLoop(Value index, int64_t size) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    auto op = loop ? loop->getParentOfType<linalg::LinalgOp>() : linalg::LinalgOp();
    if (!op || ShapedType::isDynamic(size))
      return false;
    const int64_t range = op.getStaticLoopRanges()[loop.getDim()];
    return !ShapedType::isDynamic(range) && range <= size;
  }
};

/// Groups that a reshape makes of a padded tensor's channels are those of what is padded: the convolution behind it, in
/// groups, then reads a tensor with a border (dispatch/analysis/border.h).
struct GroupInFrontOfPad : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getSrc().getDefiningOp<tensor::PadOp>();
    Value outside = pad ? pad.getConstantPaddingValue() : Value();
    if (!outside || !pad->hasOneUse())
      return failure();
    const SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad(),
                                    padded = op.getMixedOutputShape();
    const SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    for (auto [dimension, group] : llvm::enumerate(groups))
      if (group.size() > 1 && (!isZeroInteger(low[dimension]) || !isZeroInteger(high[dimension])))
        return failure();
    const Location where = op.getLoc();
    const Window source(rewriter, where, pad.getSource());
    SmallVector<OpFoldResult> sizes, lowOf, highOf;
    SmallVector<int64_t> shape;
    for (auto [dimension, group] : llvm::enumerate(groups)) {
      for (int64_t part : group) {
        sizes.push_back(group.size() == 1 ? source.sizes[dimension] : padded[part]);
        shape.push_back(group.size() == 1 ? pad.getSourceType().getDimSize(dimension)
                                          : op.getResultType().getDimSize(part));
        lowOf.push_back(group.size() == 1 ? low[dimension] : OpFoldResult(rewriter.getIndexAttr(0)));
        highOf.push_back(group.size() == 1 ? high[dimension] : OpFoldResult(rewriter.getIndexAttr(0)));
      }
    }
    const auto type = RankedTensorType::get(shape, op.getResultType().getElementType());
    Value grouped = tensor::ExpandShapeOp::create(rewriter, where, type, pad.getSource(), groups, sizes);
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op.getResultType(), grouped, lowOf, highOf, outside);
    return success();
  }
};

// Each tensor is a parameter of the kernel and a read in its body.
constexpr size_t kMostParts = 16;
// A thread writes an element of each of so many parts (unrolledLoopOf in dispatch/analysis/kernel_config.h).
constexpr int64_t kFewParts = 4;

struct LowerConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    const unsigned along = op.getDim();
    SmallVector<Value> parts;
    for (Value part : op.getInputs())
      if (cast<RankedTensorType>(part.getType()).getDimSize(along) != 0)
        parts.push_back(part);
    if (parts.empty()) // nothing and nothing: the first says how long the other dimensions are
      parts.push_back(op.getInputs().front());
    while (parts.size() > kMostParts)
      parts = joinNeighbours(parts, along, op.getLoc(), rewriter);
    // What reads the result element by element had better compute it.
    const bool isStored = llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
    Value joined = isStored && areAlike(parts, along)
                       ? interleave(parts, op.getResultType(), along, op.getLoc(), rewriter)
                       : join(parts, op.getResultType(), along, op.getLoc(), rewriter);
    rewriter.replaceOp(op, joined);
    return success();
  }

private:
  static bool areAlike(ArrayRef<Value> parts, unsigned along) {
    auto lengthOf = [&](Value part) { return cast<RankedTensorType>(part.getType()).getDimSize(along); };
    return parts.size() > 1 && int64_t(parts.size()) <= kFewParts && lengthOf(parts[0]) != ShapedType::kDynamic &&
           llvm::all_of(parts, [&](Value part) { return lengthOf(part) == lengthOf(parts[0]); });
  }

  /// Parts of one size: a loop more says which part it is, and no tensor is indexed by it. So a thread has the elements
  /// of all parts at a place, and writes them all.
  static Value interleave(ArrayRef<Value> parts, RankedTensorType type, unsigned along, Location where, OpBuilder &b) {
    const unsigned rank = type.getRank();
    SmallVector<OpFoldResult> sizes = Window(b, where, parts[0]).sizes;
    for (unsigned dimension = 0; dimension < rank; ++dimension)
      if (dimension != along)
        sizes[dimension] = sizeOf(b, type, dimension, sizes[dimension]);
    sizes.insert(sizes.begin() + along, b.getIndexAttr(int64_t(parts.size())));
    Value empty = tensor::EmptyOp::create(b, where, sizes, type.getElementType());
    AffineMap all = b.getMultiDimIdentityMap(rank + 1);
    SmallVector<AffineMap> maps(parts.size(), all.dropResult(along));
    maps.push_back(all);
    SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, where, empty.getType(), parts, empty, maps, iterators, [&](OpBuilder &b, Location loc, ValueRange elements) {
          Value which = linalg::IndexOp::create(b, loc, along), value = elements[0];
          for (size_t part = 1; part < parts.size(); ++part) {
            Value number = arith::ConstantIndexOp::create(b, loc, int64_t(part));
            Value isIt = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, which, number);
            value = arith::SelectOp::create(b, loc, isIt, elements[part], value);
          }
          linalg::YieldOp::create(b, loc, value);
        });
    SmallVector<ReassociationIndices> dimensions;
    for (unsigned dimension = 0; dimension < rank; ++dimension) {
      ReassociationIndices &folded = dimensions.emplace_back();
      folded.push_back(dimension <= along ? dimension : dimension + 1);
      if (dimension == along)
        folded.push_back(along + 1);
    }
    Value result = tensor::CollapseShapeOp::create(b, where, generic.getResult(0), dimensions);
    return result.getType() == type ? result : tensor::CastOp::create(b, where, type, result).getResult();
  }

  static SmallVector<Value> joinNeighbours(ArrayRef<Value> parts, unsigned along, Location loc, OpBuilder &b) {
    SmallVector<Value> joined;
    for (; !parts.empty(); parts = parts.drop_front(std::min(parts.size(), kMostParts))) {
      ArrayRef<Value> some = parts.take_front(kMostParts);
      SmallVector<Type> types(llvm::map_range(some, [](Value part) { return part.getType(); }));
      joined.push_back(some.size() == 1 ? some[0]
                                        : join(some, tensor::ConcatOp::inferResultType(along, types), along, loc, b));
    }
    return joined;
  }

  static Value join(ArrayRef<Value> parts, RankedTensorType type, unsigned along, Location where, OpBuilder &builder) {
    SmallVector<Window> windows;
    SmallVector<OpFoldResult> lengths;
    for (Value part : parts) {
      windows.emplace_back(builder, where, part);
      lengths.push_back(windows.back().sizes[along]);
    }
    // Where each part starts: what the parts before it measure.
    SmallVector<OpFoldResult> starts;
    for (size_t part = 0; part < parts.size(); ++part)
      starts.push_back(sumOf(builder, where, ArrayRef(lengths).take_front(part)));
    SmallVector<OpFoldResult> sizes = windows.front().sizes;
    sizes[along] = sumOf(builder, where, lengths);
    for (unsigned dimension = 0; dimension < sizes.size(); ++dimension)
      sizes[dimension] = sizeOf(builder, type, dimension, sizes[dimension]);
    return buildElements(builder, where, type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
      Value value;
      for (auto [window, start, length] : llvm::zip_equal(windows, starts, lengths)) {
        for (unsigned dimension = 0; dimension < indices.size(); ++dimension) {
          if (dimension != along || parts.size() == 1) {
            window.add(b, loc, indices[dimension]);
            continue;
          }
          Value place = subtractIndex(b, loc, indices[along], start);
          window.add(b, loc, place, isBelow(b, loc, place, length));
        }
        value = window.read(b, loc, value);
      }
      return value;
    });
  }
};

} // namespace

void addPadPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPad, LowerConcat>(patterns.getContext());
}

void addPaddedReadPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadInsideOfPad, GroupInFrontOfPad>(patterns.getContext());
}

} // namespace tenon::compiler::input
