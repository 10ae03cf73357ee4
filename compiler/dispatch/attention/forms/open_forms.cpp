// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/open_forms.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/slices.h"
#include "compiler/dispatch/attention/forms/expression.h"
#include "compiler/dispatch/attention/forms/met_reshapes.h"
#include "compiler/dispatch/attention/forms/sliced_forms.h"
#include "compiler/dispatch/attention/forms/unit_rows.h"
#include "compiler/dispatch/prepare/loops/unit_dimensions.h"
#include "compiler/dispatch/prepare/prepare.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr StringLiteral kClosedAttr = "tenon.stays_closed"; // of operations, while forms are opened

/// The tensor that an operand of a product is a copy of, and where the product's loops read it; nothing where it is
/// computed, read elsewhere than at its loops, or no copy.
struct Source {
  Value tensor;
  AffineMap map;
};

std::optional<Source> sourceOf(linalg::GenericOp op, OpOperand &operand) {
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(getAffineDimExpr(loop, op.getContext()));
  Terms terms([](linalg::GenericOp producer) { return isCopy(producer); });
  const Term term = terms.of(op.getMatchingBlockArgument(&operand), op, loops);
  if (term.kind != Term::Kind::Element || term.value == operand.get())
    return std::nullopt;
  AffineMap map = AffineMap::get(op.getNumLoops(), 0, term.place, op.getContext());
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(term.value.getType()).getShape();
  const bool skipsNothing = llvm::all_of(llvm::enumerate(shape), [&](auto dimension) {
    return dimension.value() == 1 || !isa<AffineConstantExpr>(map.getResult(dimension.index()));
  });
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) || !skipsNothing ||
      term.value.getDefiningOp<linalg::GenericOp>() == op)
    return std::nullopt;
  return Source{term.value, map};
}

/// Whether the reshape that the operand comes from, or goes to, does more than add or drop dimensions of one, which
/// terms see through.
bool dividesDimensions(OpOperand *operand) {
  auto divides = [](ArrayRef<ReassociationIndices> groups, RankedTensorType longer) {
    return llvm::any_of(groups, [&](const ReassociationIndices &group) {
      return llvm::count_if(group, [&](int64_t dimension) { return longer.getDimSize(dimension) != 1; }) > 1;
    });
  };
  auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner());
  Operation *divided = expand ? operand->get().getDefiningOp() : operand->getOwner();
  if (divided && divided->hasAttr(kClosedAttr))
    return false;
  if (expand)
    return divides(expand.getReassociationIndices(), expand.getResultType()) && !isDividedForSlices(expand);
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && divides(collapse.getReassociationIndices(), collapse.getSrcType());
}

/// Products read the tensors that their operands are copies of.
void readSources(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
      if (!contractionOf(op))
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      bool changes = false;
      for (OpOperand *operand : op.getDpsInputOperands()) {
        std::optional<Source> source = sourceOf(op, *operand);
        if (!source)
          continue;
        // A loop that only this operand has the size of, such as a window's, would have none.
        SmallVector<AffineMap> others = maps;
        others[operand->getOperandNumber()] = source->map;
        if (!inversePermutation(concatAffineMaps(others, op.getContext())))
          continue;
        maps = std::move(others);
        operand->set(source->tensor);
        changes = true;
      }
      if (changes)
        op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
    }
  dropUnitDimensionsOfInputs(function); // those that a source has beside
}

} // namespace

bool hasClosedForms(func::FuncOp function) {
  bool found = false;
  unsigned products = 0;
  function.walk([&](Operation *op) {
    found |= isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !contractionOf(generic))
      return;
    ++products;
    for (OpOperand *operand : generic.getDpsInputOperands())
      found |= sourceOf(generic, *operand).has_value();
  });
  return found && products >= 2;
}

void stayClosed(linalg::GenericOp op) {
  op->setAttr(kClosedAttr, UnitAttr::get(op.getContext()));
}

void openForms(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  dropUnitDimensionsOfInputs(function);
  auto fold = [&](bool expands) {
    RewritePatternSet patterns(context);
    addMetReshapes(patterns);
    if (expands) {
      addSlicedForms(patterns);
      linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, dividesDimensions);
    }
    tensor::populateFoldTensorEmptyPatterns(patterns);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    linalg::FillOp::getCanonicalizationPatterns(patterns, context);
    (void)applyPatternsGreedily(function, std::move(patterns));
  };
  fold(/*expands=*/false); // what dropped dimensions leave
  fold(/*expands=*/true);
  function.walk([](linalg::GenericOp op) { op->removeAttr(kClosedAttr); });
  generalizeOperations(function);
  readSources(function);
  dropUnitRows(function);
  fold(/*expands=*/false);
  eraseDeadOperations(function);
}

} // namespace tenon::compiler::dispatch
