// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice that is put into a tensor whose memory the result may take: an argument that is given up, or what a loop
// hands from round to round. As a choice for each element of the whole (slices.cpp) it would be written anew. As a
// scatter of one update, whose place is read from a tensor, only the slice is.
//
//   %1 = tensor.insert_slice %row into %cache[%at, 0] [1, 128] [1, 1]
//   %1 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%rows, %places : ...) outs(%cache : ...)
//
// Whether it is written in place is decided when launches are known (dispatch/in_place); where it is not, the whole is
// copied first.
#include "compiler/dialect/donation.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// What a tensor was before slices were put into it, under other names or not.
Value originOf(Value tensor) {
  for (;;) {
    tensor = withoutRenames(tensor);
    if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
      tensor = insert.getDest();
    else if (auto scatter = tensor.getDefiningOp<linalg_ext::ScatterOp>())
      tensor = scatter.getOutputs()[cast<OpResult>(tensor).getResultNumber()];
    else
      return tensor;
  }
}

bool mayBeWritten(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(originOf(tensor));
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<scf::ForOp, scf::WhileOp>(parent))
    return !isInsideOfBody(parent);
  return isa<func::FuncOp>(parent) && (argument.getOwner()->isEntryBlock() ? isGivenUp(argument) : true);
}

/// Whether a slice is known to be half of the tensor or more: then little is gained.
bool isMostOf(RankedTensorType slice, RankedTensorType whole) {
  return slice.hasStaticShape() && whole.hasStaticShape() && 2 * slice.getNumElements() >= whole.getNumElements();
}

struct WriteSliceOver : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    const RankedTensorType whole = op.getDestType(), slice = op.getSourceType();
    const int64_t rank = whole.getRank();
    if (rank == 0 || isInsideOfBody(op) || isMostOf(slice, whole) || !mayBeWritten(op.getDest()) ||
        !llvm::all_of(op.getMixedStrides(), isOneInteger) || (slice.hasStaticShape() && slice.getNumElements() == 0))
      return failure();
    SmallVector<int64_t> named;
    SmallVector<Value> places;
    for (auto [dimension, offset] : llvm::enumerate(op.getMixedOffsets()))
      if (!isZeroInteger(offset)) {
        named.push_back(int64_t(dimension));
        places.push_back(arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                                    getValueOrCreateConstantIndexOp(rewriter, loc, offset)));
      }
    if (named.empty()) {
      named.push_back(0);
      places.push_back(arith::ConstantIntOp::create(rewriter, loc, 0, 64));
    }
    const int64_t depth = int64_t(named.size());
    Value indices =
        tensor::FromElementsOp::create(rewriter, loc, RankedTensorType::get({1, depth}, rewriter.getI64Type()), places);
    Value update = updateOf(rewriter, op);
    auto scatter =
        linalg_ext::ScatterOp::create(rewriter, loc, TypeRange(whole), ValueRange{update, indices}, op.getDest(),
                                      rewriter.getDenseI64ArrayAttr(named), rewriter.getBoolAttr(true));
    Type element = whole.getElementType();
    Block *body = rewriter.createBlock(&scatter.getRegion(), {}, {element, element}, {loc, loc});
    linalg_ext::YieldOp::create(rewriter, loc, body->getArgument(0));
    rewriter.replaceOp(op, scatter.getResults());
    return success();
  }

private:
  /// The slice with all dimensions of the whole, behind one of its number, which is one.
  static Value updateOf(PatternRewriter &rewriter, tensor::InsertSliceOp op) {
    const Location loc = op.getLoc();
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes = {rewriter.getIndexAttr(1)};
    SmallVector<int64_t> shape = {1};
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices open = {0};
    int64_t next = 0;
    for (auto [dimension, size] : llvm::enumerate(op.getMixedSizes())) {
      open.push_back(int64_t(dimension) + 1);
      const bool isDropped = dropped.test(dimension);
      shape.push_back(isDropped ? 1 : op.getSourceType().getDimSize(next));
      sizes.push_back(ShapedType::isDynamic(shape.back()) ? size : OpFoldResult(rewriter.getIndexAttr(shape.back())));
      if (isDropped)
        continue;
      groups.push_back(open);
      open.clear();
      ++next;
    }
    if (groups.empty()) // one element: nothing is left of the slice's dimensions
      open.clear();
    else
      llvm::append_range(groups.back(), open);
    auto type = RankedTensorType::get(shape, op.getSourceType().getElementType());
    return tensor::ExpandShapeOp::create(rewriter, loc, type, op.getSource(), groups, sizes);
  }
};

} // namespace

void addSliceOverPatterns(RewritePatternSet &patterns) {
  patterns.add<WriteSliceOver>(patterns.getContext(), /*benefit=*/2);
}

} // namespace tenon::compiler::input
