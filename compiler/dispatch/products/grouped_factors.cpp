// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/grouped_factors.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumReductionLoops() == 0;
}

/// Whether a kernel of the product computes the factor that it reads through a reshape. Each tile of many rows, or of
/// an unknown number, would compute it again; there it is stored, but on Hopper.
bool computesFactors(const Contraction &product, linalg::GenericOp factor) {
  linalg::GenericOp op = product.op;
  if (mayTilesCompute(product) && isWeightOfFewBits(factor) && factor.getStaticLoopRanges().back() % kStepOfTiles == 0)
    return true;
  const std::optional<int64_t> rows = knownSizeOf(op, product.rows), columns = knownSizeOf(op, product.columns);
  return rows && columns && std::min(*rows, *columns) <= kMostFew;
}

/// Whether `operand` is such a factor, all of whose groups are reduced elements of the product.
bool isGroupedFactor(OpOperand *operand) {
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  auto reader = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!reshape || !reader || !reshape->hasOneUse() || reader.isDpsInit(operand))
    return false;
  auto producer = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!producer || !producer->hasOneUse() || producer->getBlock() != reader->getBlock() || !isElementwise(producer))
    return false;
  const AffineMap map = reader.getMatchingIndexingMap(operand);
  // A chain of elementwise operations gets the groups like the product that reads it.
  if (isElementwise(reader)) {
    if (!map.isPermutation() || !reader->hasOneUse())
      return false;
    OpOperand &use = *reader->use_begin();
    auto product = dyn_cast<linalg::GenericOp>(use.getOwner());
    const std::optional<Contraction> form = product ? contractionOf(product) : std::nullopt;
    return form && !product.isDpsInit(&use) && computesFactors(*form, producer);
  }
  // The weights of an attention would get the groups, too: what is between its products has their form alone.
  if (isOfAttention(reader))
    return false;
  const std::optional<Contraction> product = contractionOf(reader);
  if (!product || !map.isProjectedPermutation() || !computesFactors(*product, producer))
    return false;
  for (auto [dimension, group] : llvm::enumerate(reshape.getReassociationIndices()))
    if (group.size() > 1 &&
        !llvm::is_contained(product->reduced, cast<AffineDimExpr>(map.getResult(dimension)).getPosition()))
      return false;
  return true;
}

} // namespace

void expandGroupedFactors(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isGroupedFactor);
  GreedyRewriteConfig config;
  config.enableFolding();
  (void)applyPatternsGreedily(function, std::move(patterns), config);
}

} // namespace tenon::compiler::dispatch
