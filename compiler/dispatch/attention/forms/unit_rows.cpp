// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/unit_rows.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/attention/forms/expression.h"
#include "compiler/dispatch/prepare/loops/changed_loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The exponential that a factor of a product is, or is a part of; nothing where it is another number.
std::optional<Term> exponentialOf(Terms &terms, linalg::GenericOp op, const ContractionSide &side) {
  Term term = terms.withoutCasts(terms.of(side.value, op, loopsOf(op)));
  if (term.is<arith::DivFOp>() || term.is<arith::MulFOp>()) {
    const Term first = terms.withoutCasts(terms.operand(term, 0));
    term = first.is<math::ExpOp>() || first.is<math::Exp2Op>() ? first : terms.withoutCasts(terms.operand(term, 1));
  }
  return term.is<math::ExpOp>() || term.is<math::Exp2Op>() ? std::optional(term) : std::nullopt;
}

/// The dimensions of one that all who read the tensor make part of another one.
llvm::SmallBitVector unreadUnits(Value tensor) {
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  llvm::SmallBitVector units(shape.size(), !tensor.use_empty());
  for (Operation *user : tensor.getUsers()) {
    llvm::SmallBitVector ofUser(shape.size());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user))
      for (const ReassociationIndices &group : collapse.getReassociationIndices())
        for (int64_t dimension : group)
          ofUser[dimension] = group.size() > 1 && shape[dimension] == 1;
    units &= ofUser;
  }
  return units;
}

/// The product without the loops over these dimensions of its result, if they are of one: those of the batch, and rows
/// or columns where others stay. Null where there are no such.
linalg::GenericOp dropUnits(const Contraction &product, const llvm::SmallBitVector &units) {
  linalg::GenericOp op = product.op;
  const AffineMap written = op.getIndexingMapsArray().back();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  llvm::SmallBitVector dropped(op.getNumLoops());
  auto drop = [&](ArrayRef<unsigned> loops, size_t leastStay) {
    size_t stay = loops.size();
    for (unsigned loop : loops) {
      const std::optional<unsigned> dimension = written.getResultPosition(getAffineDimExpr(loop, op.getContext()));
      if (dimension && units.test(*dimension) && sizes[loop] == 1 && stay > leastStay) {
        dropped.set(loop);
        --stay;
      }
    }
  };
  drop(product.batch, 0);
  drop(product.rows, 1);
  drop(product.columns, 1);
  // Every operand says that it has one there, and reads it by the loop alone.
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      for (unsigned loop : dropped.set_bits())
        if (expr.isFunctionOfDim(loop) &&
            (!isa<AffineDimExpr>(expr) || cast<ShapedType>(operand.get().getType()).getDimSize(dimension) != 1))
          dropped.reset(loop);
  if (dropped.none())
    return {};
  ChangedLoops loops(op);
  dropLoops(op, loops, dropped);
  return rebuild(op, std::move(loops));
}

/// The product that the logits are computed from, and those of its dimensions that they read at 0.
bool dropUnitsOfScores(linalg::GenericOp output) {
  const std::optional<Contraction> product = contractionOf(output);
  for (const ContractionSide *side : {&product->left, &product->right}) {
    Terms terms;
    const std::optional<Term> exponential = exponentialOf(terms, output, *side);
    if (!exponential)
      continue;
    for (const Term &element : elementsOf(terms, *exponential)) {
      auto op = element.value.getDefiningOp<linalg::GenericOp>();
      const std::optional<Contraction> scores = op ? contractionOf(op) : std::nullopt;
      if (!scores)
        continue;
      llvm::SmallBitVector units(element.place.size());
      for (auto [dimension, index] : llvm::enumerate(element.place))
        units[dimension] = isa<AffineConstantExpr>(index);
      if (dropUnits(*scores, units))
        return true;
    }
  }
  return false;
}

} // namespace

void dropUnitRows(func::FuncOp function) {
  SmallVector<linalg::GenericOp> outputs;
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
      const std::optional<Contraction> product = contractionOf(op);
      Terms terms;
      if (!product || !op.getIndexingMapsArray().back().isProjectedPermutation() ||
          (!exponentialOf(terms, op, product->left) && !exponentialOf(terms, op, product->right)))
        continue;
      linalg::GenericOp without = dropUnits(*product, unreadUnits(op->getResult(0)));
      outputs.push_back(without ? without : op);
    }
  for (linalg::GenericOp output : outputs)
    while (dropUnitsOfScores(output)) {
    }
}

} // namespace tenon::compiler::dispatch
