// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/grouped_results.h"

#include "compiler/dispatch/analysis/convolutions/grouped.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isOfGroups(linalg::GenericOp op) {
  const std::optional<Contraction> product = op ? contractionOf(op) : std::nullopt;
  return product && GroupedWindows::of(*product);
}

/// Whether `operand` is such a result, and its reader computes each of its own elements from one of them.
bool isGroupedResult(OpOperand *operand) {
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  auto reader = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return reshape && reader && reshape->hasOneUse() && !reader.isDpsInit(operand) && reader.hasPureTensorSemantics() &&
         reader->getNumResults() == 1 && reader.getNumReductionLoops() == 0 &&
         reader.getMatchingIndexingMap(operand).isPermutation() &&
         isOfGroups(reshape.getSrc().getDefiningOp<linalg::GenericOp>());
}

} // namespace

bool expandGroupedResults(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isGroupedResult);
  GreedyRewriteConfig config;
  config.enableFolding();
  bool changed = false;
  const bool any = function
                       .walk([](linalg::GenericOp op) {
                         return llvm::any_of(op.getDpsInputOperands(), isGroupedResult) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
                       })
                       .wasInterrupted();
  if (any)
    (void)applyPatternsGreedily(function, std::move(patterns), config, &changed);
  return changed;
}

} // namespace tenon::compiler::dispatch
