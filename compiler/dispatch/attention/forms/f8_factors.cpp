// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/f8_factors.h"

#include "compiler/dispatch/analysis/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Of the body: from f8 to f32, by way of f16.
bool widen(Value factor) {
  auto extension = factor.getDefiningOp<arith::ExtFOp>();
  if (!extension || !isF8(extension.getIn().getType()) || !extension.getType().isF32())
    return false;
  OpBuilder b(extension);
  extension.getInMutable().assign(
      arith::ExtFOp::create(b, extension.getLoc(), b.getF16Type(), extension.getIn()).getResult());
  return true;
}

} // namespace

void widenFactors(linalg::GenericOp product) {
  const std::optional<Contraction> form = contractionOf(product);
  if (!form || form->combiner != Combiner::AddF || !isF8(factorTypeOf(form->left.value)) ||
      !isF8(factorTypeOf(form->right.value)))
    return;
  widen(form->left.value);
  if (form->right.value != form->left.value)
    widen(form->right.value);
}

void widenWeighted(linalg::GenericOp output, unsigned weights) {
  const std::optional<Contraction> form = contractionOf(output);
  BlockArgument weight = output.getMatchingBlockArgument(output.getDpsInputOperand(weights));
  if (!form || form->combiner != Combiner::AddF || !weight.getType().isF32())
    return;
  const bool isLeft = llvm::is_contained(form->left.inputs, weights);
  Value factor = isLeft ? form->left.value : form->right.value, values = isLeft ? form->right.value : form->left.value;
  Value plain = factor;
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(plain.getDefiningOp()))
    plain = plain.getDefiningOp()->getOperand(0);
  if (plain != weight || !isF8(factorTypeOf(values)) || !widen(values))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(output.getBody());
  Value half = arith::TruncFOp::create(b, output.getLoc(), b.getF16Type(), weight);
  Value wide = arith::ExtFOp::create(b, output.getLoc(), b.getF32Type(), half);
  if (factor == weight)
    weight.replaceAllUsesExcept(wide, half.getDefiningOp());
  else
    factor.replaceAllUsesWith(wide);
}

} // namespace tenon::compiler::dispatch
