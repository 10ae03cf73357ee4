// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/f8_factors.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

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

/// From an element, perhaps by way of the f8 whose byte it is, to f16; nothing where something else reads them, too.
static SmallVector<Operation *, 2> wideningOf(BlockArgument element) {
  SmallVector<Operation *, 2> found;
  for (Value value = element; value.hasOneUse();) {
    Operation *op = *value.getUsers().begin();
    if (isa<arith::BitcastOp>(op) && found.empty() && isF8(op->getResult(0).getType())) {
      found.push_back(op);
      value = op->getResult(0);
      continue;
    }
    if (!isa<arith::ExtFOp>(op) || !isF8(value.getType()) || !op->getResult(0).getType().isF16())
      break;
    found.push_back(op);
    return found;
  }
  return {};
}

void storeWidened(linalg::GenericOp product) {
  OpBuilder b(product);
  const Location loc = product.getLoc();
  for (OpOperand *operand : product.getDpsInputOperands()) {
    BlockArgument element = product.getMatchingBlockArgument(operand);
    const SmallVector<Operation *, 2> widening = wideningOf(element);
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (widening.empty() || !type)
      continue;
    Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, operand->get()), b.getF16Type());
    const AffineMap all = b.getMultiDimIdentityMap(type.getRank());
    const SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
    auto stored = linalg::GenericOp::create(b, loc, empty.getType(), operand->get(), empty, {all, all}, types,
                                            [&](OpBuilder &inside, Location, ValueRange x) {
                                              IRMapping known;
                                              known.map(element, x[0]);
                                              Value wide;
                                              for (Operation *op : widening)
                                                wide = inside.clone(*op, known)->getResult(0);
                                              linalg::YieldOp::create(inside, loc, wide);
                                            });
    stored->setAttr(kStoredAttr, b.getUnitAttr());
    operand->set(stored->getResult(0));
    element.setType(b.getF16Type());
    widening.back()->getResult(0).replaceAllUsesWith(element);
    for (Operation *op : llvm::reverse(widening))
      op->erase();
  }
}

} // namespace tenon::compiler::dispatch
