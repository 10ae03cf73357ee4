// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/narrow_indices.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The operation that makes each element of the value of the one at the same place of its only operand, by widening it.
Operation *widens(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic->getNumResults() != 1 || generic.getNumDpsInputs() != 1 ||
      generic.getNumReductionLoops() != 0 || !llvm::hasNItems(*generic.getBody(), 2) ||
      !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return nullptr;
  Operation &first = generic.getBody()->front();
  const bool isWidening = isa<arith::ExtUIOp, arith::ExtSIOp>(first) &&
                          first.getOperand(0) == generic.getBody()->getArgument(0) &&
                          generic.getBody()->getTerminator()->getOperand(0) == first.getResult(0);
  return isWidening && isSupportedElement(first.getOperand(0).getType()) ? generic.getOperation() : nullptr;
}

void narrow(linalg_ext::ScatterOp scatter) {
  Value indices = scatter.getInputs()[1];
  // Other shapes of the same elements stand between.
  SmallVector<Operation *> reshapes;
  while (Operation *reshape = indices.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape))
      break;
    reshapes.push_back(reshape);
    indices = reshape->getOperand(0);
  }
  auto generic = cast_or_null<linalg::GenericOp>(widens(indices));
  if (!generic)
    return;
  Value source = generic.getDpsInputOperand(0)->get();
  Type element = cast<RankedTensorType>(source.getType()).getElementType();
  OpBuilder b(scatter);
  for (Operation *reshape : llvm::reverse(reshapes)) {
    Operation *copy = b.clone(*reshape);
    copy->setOperand(0, source);
    copy->getResult(0).setType(cast<RankedTensorType>(reshape->getResult(0).getType()).clone(element));
    source = copy->getResult(0);
  }
  if (isa<arith::ExtUIOp>(generic.getBody()->front()))
    scatter->setAttr(kUnsignedAttr, b.getUnitAttr());
  scatter.getInputsMutable()[1].set(source);
  // What nobody reads any more is not computed.
  for (Operation *reshape : reshapes)
    if (reshape->use_empty())
      reshape->erase();
  if (generic->use_empty())
    generic.erase();
}

} // namespace

void narrowIndices(func::FuncOp function) {
  SmallVector<linalg_ext::ScatterOp> scatters;
  function.walk([&](linalg_ext::ScatterOp scatter) {
    if (!scatter->hasAttr(kUnsignedAttr))
      scatters.push_back(scatter);
  });
  llvm::for_each(scatters, narrow);
}

} // namespace tenon::compiler::dispatch
