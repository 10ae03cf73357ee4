// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/sliced_forms.h"
#include "compiler/dialect/size_origin.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/slices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// What a slice reads along a dimension of its source: from `offset` on, the loop's index; of no loop a place.
struct Index {
  std::optional<unsigned> loop;
  int64_t offset = 0;
};

struct Slice {
  Value source;
  SmallVector<Index> indices; // of each dimension of the source
};

/// Where a body that does nothing else reads a tensor: a slice that begins at the first element is written so, since
/// no map may end in front of the tensor's end.
std::optional<AffineMap> placeOf(linalg::GenericOp op, Value &source) {
  auto read = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!read || read->getBlock() != op.getBody() || op.getNumDpsInputs() != 0)
    return std::nullopt;
  SmallVector<AffineExpr> places;
  for (Value index : read.getIndices()) {
    IntegerAttr place;
    if (auto loop = index.getDefiningOp<linalg::IndexOp>())
      places.push_back(getAffineDimExpr(loop.getDim(), op.getContext()));
    else if (matchPattern(index, m_Constant(&place)))
      places.push_back(getAffineConstantExpr(place.getInt(), op.getContext()));
    else
      return std::nullopt;
  }
  source = read.getTensor();
  return AffineMap::get(op.getNumLoops(), 0, places, op.getContext());
}

/// Of an operation that copies a part of a tensor, whose result has its loops as dimensions. Nothing where it is
/// another operation, or copies all of the tensor.
std::optional<Slice> sliceOf(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op->getNumResults() != 1 || !op.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  Slice slice;
  AffineMap map;
  if (isCopy(op)) {
    slice.source = op.getDpsInputs()[0];
    map = op.getIndexingMapsArray().front();
    if (map.isProjectedPermutation())
      return std::nullopt;
  } else if (std::optional<AffineMap> place = placeOf(op, slice.source)) {
    map = *place;
  } else {
    return std::nullopt;
  }
  llvm::SmallBitVector seen(op.getNumLoops());
  for (AffineExpr expr : map.getResults()) {
    Index &index = slice.indices.emplace_back();
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add)
      if (auto offset = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
        index.offset = offset.getValue();
        expr = sum.getLHS();
      }
    if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && !seen.test(loop.getPosition())) {
      seen.set(loop.getPosition());
      index.loop = loop.getPosition();
    } else if (auto place = dyn_cast<AffineConstantExpr>(expr); place && index.offset == 0) {
      index.offset = place.getValue();
    } else {
      return std::nullopt;
    }
  }
  return slice;
}

/// Which dimensions of the one shape each of the other's is; those of one may be added and dropped anywhere. Nothing
/// where one of them is a part of two, or one of unknown size is divided.
std::optional<SmallVector<SmallVector<unsigned>>> partsOf(ArrayRef<int64_t> whole, ArrayRef<int64_t> divided) {
  SmallVector<SmallVector<unsigned>> parts;
  unsigned next = 0;
  for (int64_t size : whole) {
    SmallVector<unsigned> &part = parts.emplace_back();
    int64_t product = 1;
    if (ShapedType::isDynamic(size)) {
      while (next < divided.size() && divided[next] == 1)
        part.push_back(next++);
      if (next == divided.size() || !ShapedType::isDynamic(divided[next]))
        return std::nullopt;
      part.push_back(next++);
      continue;
    }
    while (product < size && next < divided.size()) {
      if (ShapedType::isDynamic(divided[next]))
        return std::nullopt;
      product *= divided[next];
      part.push_back(next++);
    }
    if (product != size)
      return std::nullopt;
  }
  for (; next < divided.size(); ++next) {
    if (divided[next] != 1 || parts.empty())
      return std::nullopt;
    parts.back().push_back(next);
  }
  return parts;
}

/// Whether the slice takes all of each dimension of unknown size: it says so as a map, or both sizes are one value.
bool takesUnknownWhole(linalg::GenericOp copy, const Slice &slice) {
  auto whole = cast<RankedTensorType>(slice.source.getType());
  for (auto [dimension, index] : llvm::enumerate(slice.indices)) {
    if (!whole.isDynamicDim(dimension))
      continue;
    if (!index.loop || index.offset != 0)
      return false;
    if (!isCopy(copy) &&
        !(sizeOriginOf(copy->getResult(0), *index.loop) == sizeOriginOf(slice.source, int64_t(dimension))))
      return false;
  }
  return true;
}

/// Whether each dimension of unknown size is as long divided as it was: a reshape between them may make other ones of
/// several, of which only the product stays. One alone does.
bool areUnknownTheSame(Value sliced, tensor::ExpandShapeOp divided, ArrayRef<SmallVector<unsigned>> parts) {
  auto type = cast<RankedTensorType>(sliced.getType());
  if (type.getNumDynamicDims() < 2)
    return true;
  for (auto [dimension, part] : llvm::enumerate(parts))
    if (type.isDynamicDim(int64_t(dimension)) &&
        !(sizeOriginOf(sliced, int64_t(dimension)) == sizeOriginOf(divided.getResult(), int64_t(part.back()))))
      return false;
  return true;
}

struct DivideBeforeSlices : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    Value sliced = op.getSrc();
    if (auto collapse = sliced.getDefiningOp<tensor::CollapseShapeOp>(); collapse && collapse->hasOneUse())
      sliced = collapse.getSrc();
    auto copy = sliced.getDefiningOp<linalg::GenericOp>();
    const std::optional<Slice> slice = sliceOf(copy);
    auto type = dyn_cast<RankedTensorType>(sliced.getType());
    if (!slice || !copy->hasOneUse() || llvm::is_contained(type.getShape(), 0))
      return failure();
    const ArrayRef<int64_t> shape = op.getResultType().getShape();
    const auto parts = partsOf(type.getShape(), shape);
    Value source = slice->source;
    auto whole = cast<RankedTensorType>(source.getType());
    if (!parts || !takesUnknownWhole(copy, *slice) || !areUnknownTheSame(sliced, op, *parts))
      return failure();

    MLIRContext *context = op.getContext();
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> divided;
    SmallVector<AffineExpr> places;
    for (auto [dimension, index] : llvm::enumerate(slice->indices)) {
      ReassociationIndices &group = groups.emplace_back();
      auto add = [&](int64_t size, AffineExpr place) {
        group.push_back(int64_t(divided.size()));
        divided.push_back(size);
        places.push_back(place);
      };
      const ArrayRef<unsigned> part = index.loop ? ArrayRef((*parts)[*index.loop]) : ArrayRef<unsigned>();
      if (part.empty()) { // of no loop, or of one that runs once
        add(whole.getDimSize(dimension), getAffineConstantExpr(index.offset, context));
        continue;
      }
      if (whole.isDynamicDim(dimension)) {
        add(ShapedType::kDynamic, getAffineDimExpr(part.back(), context));
        continue;
      }
      int64_t inner = 1;
      for (unsigned each : part.drop_front())
        inner *= shape[each];
      if (whole.getDimSize(dimension) % inner != 0 || index.offset % inner != 0)
        return rewriter.notifyMatchFailure(op, "a slice begins inside of a part");
      // Of as many as a whole number of slices, the slice is one of these.
      const int64_t size = whole.getDimSize(dimension) / inner, own = shape[part.front()], first = index.offset / inner;
      AffineExpr loop = getAffineDimExpr(part.front(), context);
      if (size != own && size % own == 0 && first % own == 0) {
        add(size / own, getAffineConstantExpr(first / own, context));
        add(own, loop);
      } else if (size == own || first != 0) {
        add(size, loop + first);
      } else {
        return rewriter.notifyMatchFailure(op, "no map may end in front of the tensor's end");
      }
      for (unsigned each : part.drop_front())
        add(shape[each], getAffineDimExpr(each, context));
    }
    rewriter.setInsertionPointAfterValue(source);
    auto dividedType = RankedTensorType::get(divided, whole.getElementType());
    if (dividedType != whole)
      source = dividedOf(source, dividedType, groups, op, rewriter);
    rewriter.setInsertionPoint(op);
    Value start = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getMixedOutputShape(), whole.getElementType());
    SmallVector<utils::IteratorType> types(shape.size(), utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getResultType(), source, start,
        ArrayRef<AffineMap>{AffineMap::get(shape.size(), 0, places, context),
                            AffineMap::getMultiDimIdentityMap(shape.size(), context)},
        types, [](OpBuilder &b, Location loc, ValueRange x) { linalg::YieldOp::create(b, loc, x[0]); });
    return success();
  }

private:
  /// Slices of one tensor share it. One that has sizes as operands stays behind them.
  static Value dividedOf(Value source, RankedTensorType type, ArrayRef<ReassociationIndices> groups, Operation *reader,
                         PatternRewriter &rewriter) {
    for (Operation *user : source.getUsers())
      if (auto other = dyn_cast<tensor::ExpandShapeOp>(user); other && other.getType() == type &&
                                                              other->getBlock() == rewriter.getInsertionBlock() &&
                                                              llvm::equal(other.getReassociationIndices(), groups)) {
        if (!other.getOutputShape().empty()) {
          if (!other->isBeforeInBlock(reader))
            continue;
          return other;
        }
        rewriter.moveOpAfter(other, rewriter.getInsertionBlock(), std::prev(rewriter.getInsertionPoint()));
        return other;
      }
    SmallVector<OpFoldResult> sizes =
        llvm::map_to_vector(type.getShape(), [&](int64_t size) -> OpFoldResult { return rewriter.getIndexAttr(size); });
    for (auto [dimension, group] : llvm::enumerate(groups))
      if (cast<RankedTensorType>(source.getType()).isDynamicDim(int64_t(dimension)))
        sizes[group.front()] = dimensionOf(rewriter, source.getLoc(), source, int64_t(dimension));
    return tensor::ExpandShapeOp::create(rewriter, source.getLoc(), type, source, groups, sizes);
  }
};

} // namespace

void addSlicedForms(RewritePatternSet &patterns) {
  patterns.add<DivideBeforeSlices>(patterns.getContext());
}

bool isDividedForSlices(tensor::ExpandShapeOp expand) {
  return !expand->use_empty() && llvm::all_of(expand->getUsers(), [](Operation *user) {
    return sliceOf(dyn_cast<linalg::GenericOp>(user)).has_value();
  });
}

} // namespace tenon::compiler::dispatch
