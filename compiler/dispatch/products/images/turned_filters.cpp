// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/turned_filters.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/slices.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

static void readBackwards(linalg::GenericOp op, OpOperand *read, OpOperand *other) {
  auto turned = read->get().getDefiningOp<linalg::GenericOp>();
  if (!turned || !turned->hasOneUse() || !isCopy(turned) || !turned.getIndexingMapsArray().back().isIdentity())
    return;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const AffineMap source = turned.getIndexingMapsArray().front(), filters = op.getMatchingIndexingMap(read);
  SmallVector<AffineExpr> loops; // of the convolution, read backwards where the filters are turned
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    loops.push_back(getAffineDimExpr(loop, op.getContext()));
  if (!filters.isProjectedPermutation() || source.getNumResults() != filters.getNumResults())
    return;
  for (auto [dimension, expr] : llvm::enumerate(source.getResults())) {
    AffineExpr dim = getAffineDimExpr(dimension, op.getContext());
    if (expr == dim)
      continue;
    const unsigned loop = filters.getDimPosition(dimension);
    AffineExpr backwards = getAffineConstantExpr(sizes[loop] - 1, op.getContext()) - dim;
    if (simplifyAffineExpr(expr - backwards, source.getNumDims(), 0) != getAffineConstantExpr(0, op.getContext()) ||
        op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction)
      return;
    loops[loop] = sizes[loop] - 1 - loops[loop];
  }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &image = maps[other->getOperandNumber()];
  SmallVector<AffineExpr> places;
  for (AffineExpr expr : image.getResults())
    places.push_back(simplifyAffineExpr(expr.replaceDims(loops), sizes.size(), 0));
  image = AffineMap::get(sizes.size(), 0, places, op.getContext());
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  read->set(turned.getDpsInputs()[0]);
  turned->erase();
}

void readBackwards(const Convolution &convolution) {
  readBackwards(convolution.op, convolution.filters, convolution.image);
}

void readBackwards(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || !op.hasPureTensorSemantics() || op->getNumResults() != 1 || !readsWindows(op) ||
      llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) || !isWindow(op))
    return;
  OpOperand *first = op.getDpsInputOperand(0), *second = op.getDpsInputOperand(1);
  if (op.getMatchingIndexingMap(first).isProjectedPermutation())
    std::swap(first, second);
  if (op.getMatchingIndexingMap(second).isProjectedPermutation())
    readBackwards(op, second, first);
}

} // namespace tenon::compiler::dispatch
