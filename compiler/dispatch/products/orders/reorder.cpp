// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/reorder.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

void turnRead(OpOperand &operand, ArrayRef<int64_t> order) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand.getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), op.getContext());
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

void turnResultOf(OpResult result, ArrayRef<int64_t> order) {
  auto op = cast<linalg::GenericOp>(result.getOwner());
  OpBuilder b(op);
  OpOperand &start = op.getDpsInitsMutable()[result.getResultNumber()];
  auto fill = start.get().getDefiningOp<linalg::FillOp>();
  Value begun = fill ? fill.getOutputs()[0] : start.get();
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(begun.getType()).getShape()))
    sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult(dimensionOf(b, op.getLoc(), begun, int64_t(dimension)))
                                                : OpFoldResult(b.getIndexAttr(size)));
  Value made = tensor::EmptyOp::create(b, op.getLoc(), inOrder(ArrayRef(sizes), order), getElementTypeOrSelf(begun));
  if (fill)
    made = linalg::FillOp::create(b, fill.getLoc(), fill.getInputs()[0], made).getResult(0);
  start.set(made);
  turnRead(start, order);
  result.setType(made.getType());
}

void turnReshape(Operation *reshape, ArrayRef<int64_t> order, ArrayRef<int64_t> shorter) {
  const SmallVector<ReassociationIndices> groups = partsOf(reshape);
  SmallVector<ReassociationIndices> turned;
  int64_t next = 0;
  for (int64_t dimension : shorter) {
    ReassociationIndices &group = turned.emplace_back();
    for (size_t i = 0; i < groups[dimension].size(); ++i)
      group.push_back(next++);
  }
  OpBuilder b(reshape);
  Value result = reshape->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  const ArrayAttr attribute = getReassociationIndicesAttribute(b, turned);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape)) {
    const SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    SmallVector<Value> unknown;
    SmallVector<int64_t> known;
    dispatchIndexOpFoldResults(inOrder(ArrayRef(sizes), order), unknown, known);
    expand.getOutputShapeMutable().assign(unknown);
    expand.setStaticOutputShape(known);
    expand.setReassociationAttr(attribute);
  } else {
    cast<tensor::CollapseShapeOp>(reshape).setReassociationAttr(attribute);
  }
  result.setType(RankedTensorType::get(inOrder(type.getShape(), order), type.getElementType()));
}

void orderLoops(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : op.getIndexingMapMatchingResult(op->getResult(0)).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || llvm::is_contained(loops, loop.getPosition()))
      return;
    loops.push_back(loop.getPosition());
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(loops, loop))
      loops.push_back(loop);
  if (llvm::is_sorted(loops))
    return;
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  (void)linalg::interchangeGenericOp(rewriter, op, loops);
}

} // namespace tenon::compiler::dispatch
