// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unit_sums.h"

#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Loops of one step that no image has: one filter for each channel, as if there could be several. What only the result
/// has, such as the window of a gradient by filters of one place, is none of them.
void addUnitFilters(linalg::GenericOp op, SmallVector<unsigned> &units) {
  if (op.getNumReductionLoops() == 0 || !readsWindows(op))
    return;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isOfImage = llvm::any_of(op.getIndexingMapsArray(), [&, at = unsigned(loop)](AffineMap map) {
      return map.isFunctionOfDim(at) && !map.isProjectedPermutation();
    });
    const bool isRead = llvm::any_of(op.getDpsInputOperands(), [&, at = unsigned(loop)](OpOperand *operand) {
      return op.getMatchingIndexingMap(operand).isFunctionOfDim(at);
    });
    if (type == utils::IteratorType::parallel && sizes[loop] == 1 && isRead && !isOfImage)
      units.push_back(loop);
  }
}

/// Does an index that is a loop go through all of the dimension? It would be taken for one that does: a window that is
/// smaller than its image reads the beginning of it. Where neither size is known, the host compares them.
bool coversDimension(AffineExpr index, ArrayRef<int64_t> sizes, int64_t dimension) {
  auto loop = dyn_cast<AffineDimExpr>(index);
  return !loop || sizes[loop.getPosition()] == dimension;
}

/// Without these loops, does some index become one that does not go through its dimension?
bool leavesPartOf(linalg::GenericOp op, ArrayRef<int64_t> sizes, ArrayRef<unsigned> units) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    loops.push_back(llvm::is_contained(units, loop) ? getAffineConstantExpr(0, context)
                                                    : getAffineDimExpr(loop, context));
  for (auto [tensor, map] : llvm::zip(op->getOperands(), op.getIndexingMapsArray())) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    for (auto [dimension, expr] : llvm::enumerate(map.getResults()))
      if (type && !isa<AffineDimExpr>(expr) &&
          !coversDimension(simplifyAffineExpr(expr.replaceDims(loops), sizes.size(), 0), sizes,
                           type.getDimSize(dimension)))
        return true;
  }
  return false;
}

/// Loops of one step that can be dropped; of reduced ones none where nothing is left to sum over without them.
SmallVector<unsigned> unitSumsOf(linalg::GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced, units;
  op.getReductionDims(reduced);
  llvm::copy_if(reduced, std::back_inserter(units), [&](unsigned loop) { return sizes[loop] == 1; });
  llvm::erase_if(units, [&](unsigned loop) { return leavesPartOf(op, sizes, loop); });
  if (units.size() == reduced.size() || leavesPartOf(op, sizes, units)) // of a sum of several
    units.clear();
  addUnitFilters(op, units);
  return units;
}

/// The index without loops of one step, where another operand still says that they are such.
AffineExpr withoutUnits(AffineExpr expr, ArrayRef<int64_t> sizes, AffineMap written) {
  if (isa<AffineDimExpr>(expr))
    return expr;
  SmallVector<AffineExpr> loops;
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    AffineExpr dim = getAffineDimExpr(loop, expr.getContext());
    loops.push_back(size == 1 && written.getResultPosition(dim) ? getAffineConstantExpr(0, expr.getContext()) : dim);
  }
  return simplifyAffineExpr(expr.replaceDims(loops), sizes.size(), 0);
}

void dropLoops(linalg::GenericOp op, const SmallVector<unsigned> &loops) {
  IRRewriter rewriter(op);
  linalg::ControlDropUnitDims control;
  control.controlFn = [&](Operation *) { return loops; };
  FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, op, control);
  if (succeeded(dropped))
    rewriter.replaceOp(op, dropped->replacements);
}

} // namespace

linalg::GenericOp joinSums(linalg::GenericOp op) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (op.hasIndexSemantics() || !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return op;
  SmallVector<ReassociationIndices> joined;
  ReassociationIndices run; // of reduced loops, side by side
  auto endRun = [&] {
    if (run.size() > 1)
      joined.push_back(run);
    run.clear();
  };
  for (AffineExpr expr : maps.front().getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction) {
      endRun();
      continue;
    }
    run.push_back(loop);
    if (linalg::areDimSequencesPreserved(maps, run))
      continue;
    run.pop_back();
    endRun();
    run.push_back(loop);
  }
  endRun();
  if (joined.empty())
    return op;
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, joined, rewriter);
  if (failed(collapsed))
    return op;
  rewriter.replaceOp(op, collapsed->results);
  return cast<linalg::GenericOp>(collapsed->collapsedOp.getOperation());
}

void dropUnitOffsets(func::FuncOp function) {
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && op.getNumReductionLoops() != 0 && op->getNumResults() == 1 &&
        llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) { return sumsOverPlaces(op, map); }))
      found.push_back(op);
  });
  for (linalg::GenericOp op : found) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    const AffineMap written = maps.back();
    for (auto [tensor, map] : llvm::zip(op.getOperands(), MutableArrayRef(maps).drop_back())) {
      SmallVector<AffineExpr> results;
      for (auto [expr, size] : llvm::zip(map.getResults(), cast<RankedTensorType>(tensor.getType()).getShape())) {
        const AffineExpr without = withoutUnits(expr, sizes, written);
        results.push_back(isa<AffineDimExpr>(expr) || coversDimension(without, sizes, size) ? without : expr);
      }
      map = AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
    }
    op.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
    joinSums(op);
  }
}

void joinSumsOfAll(func::FuncOp function) {
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && op.getNumReductionLoops() > 1 && op.getNumParallelLoops() == 0 &&
        isTreeReduction(op) && llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic))
      found.push_back(op);
  });
  for (linalg::GenericOp op : found)
    joinSums(op);
}

void dropUnitSums(func::FuncOp function) {
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && !op.hasIndexSemantics() && !isOfAttention(op) && !unitSumsOf(op).empty())
      found.push_back(op);
  });
  for (linalg::GenericOp op : found)
    dropLoops(op, unitSumsOf(op));
}

void dropUnitReductions(func::FuncOp function) {
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (op.hasPureTensorSemantics() && !op.hasIndexSemantics() && !isOfAttention(op) && isTreeReduction(op) &&
        !contractionOf(op) && llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
      found.push_back(op);
  });
  for (linalg::GenericOp op : found) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    if (llvm::all_of(reduced, [&](unsigned loop) { return sizes[loop] == 1; }))
      dropLoops(op, reduced);
  }
}

} // namespace tenon::compiler::dispatch
