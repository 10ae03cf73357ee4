// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/widenings.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Whether it only widens its operand: numbers of fewer bytes, and the same values.
bool isWidening(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 1 ||
      op->getNumResults() != 1 || !llvm::all_equal(op.getIndexingMapsArray()) ||
      llvm::range_size(op.getBody()->without_terminator()) != 1)
    return false;
  Operation &inner = op.getBody()->front();
  if (!isa<arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp, arith::ExtUIOp>(inner) ||
      inner.getOperand(0) != op.getBody()->getArgument(0) ||
      op.getBody()->getTerminator()->getOperand(0) != inner.getResult(0))
    return false;
  const Type from = inner.getOperand(0).getType();
  return !isF8(from) && elementBytes(from) < elementBytes(inner.getResult(0).getType());
}

bool mayWiden(OpOperand &use, Block *block) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && reader->getBlock() == block && reader.isDpsInput(&use) && !isOfAttention(reader) &&
         (reader.getNumReductionLoops() == 0 || (isTreeReduction(reader) && !contractionOf(reader)));
}

/// Whether all that read the tensor, or reshapes of it, may widen what they read.
bool mayReadersWiden(Value tensor, Block *block) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *owner = use.getOwner();
    return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(owner) ? mayReadersWiden(owner->getResult(0), block)
                                                                      : mayWiden(use, block);
  });
}

/// The same reshape of a tensor of other elements.
Value reshaped(OpBuilder &b, Operation *reshape, Value tensor) {
  auto type = cast<RankedTensorType>(reshape->getResult(0).getType()).clone(getElementTypeOrSelf(tensor.getType()));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(b, reshape->getLoc(), type, tensor, collapse.getReassociationIndices());
  return tensor::ExpandShapeOp::create(b, reshape->getLoc(), type, tensor,
                                       cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices());
}

} // namespace

void widenBehindReshapes(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        continue;
      auto widening = op.getOperand(0).getDefiningOp<linalg::GenericOp>();
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      if (!widening || !isWidening(widening) || !widening.getIndexingMapsArray().front().isIdentity() ||
          !isa<arith::ExtFOp>(widening.getBody()->front()) || !type.hasStaticShape() ||
          !mayReadersWiden(op.getResult(0), &block))
        continue;
      OpBuilder b(&op);
      Value narrow = reshaped(b, &op, widening.getDpsInputs()[0]);
      Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
      const AffineMap map = b.getMultiDimIdentityMap(type.getRank());
      SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
      auto wide = linalg::GenericOp::create(b, op.getLoc(), type, narrow, empty, ArrayRef<AffineMap>{map, map}, types,
                                            [&](OpBuilder &inner, Location, ValueRange arguments) {
                                              IRMapping values;
                                              values.map(widening.getBody()->getArguments(), arguments);
                                              for (Operation &each : *widening.getBody())
                                                inner.clone(each, values);
                                            });
      op.getResult(0).replaceAllUsesWith(wide->getResult(0));
      op.erase();
    }
}

void splitWidenings(func::FuncOp function) {
  function.walk([&](linalg::GenericOp op) {
    if (op->use_empty() || op->hasOneUse() || !isWidening(op) ||
        !llvm::all_of(op->getUses(), [&](OpOperand &use) { return mayWiden(use, op->getBlock()); }))
      return;
    OpBuilder b(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(b.clone(*op)->getResult(0));
  });
}

} // namespace tenon::compiler::dispatch
