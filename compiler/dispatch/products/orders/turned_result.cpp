// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

bool isSamePlace(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         !op.hasIndexSemantics() && op.getBody()->getOps<tensor::ExtractOp>().empty() &&
         op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty() &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

SmallVector<int64_t> lastOrder(unsigned rank, unsigned dimension) {
  SmallVector<int64_t> order;
  for (unsigned i = 0; i < rank; ++i)
    if (i != dimension)
      order.push_back(i);
  order.push_back(dimension);
  return order;
}

void turnResult(linalg::GenericOp op, ArrayRef<int64_t> order) {
  OpBuilder b(op);
  OpOperand *start = op.getDpsInitOperand(0);
  auto fill = start->get().getDefiningOp<linalg::FillOp>();
  // Of the operation's result, and of what computes each element behind it.
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), start->get());
  const SmallVector<OpFoldResult> turnedSizes = inOrder(ArrayRef(sizes), order);
  auto type = cast<RankedTensorType>(start->get().getType());
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), turnedSizes, type.getElementType());
  start->set(linalg::FillOp::create(b, op.getLoc(), fill.getInputs()[0], empty).getResult(0));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = AffineMap::get(maps.back().getNumDims(), 0, inOrder(maps.back().getResults(), order), b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  Value result = op.getResult(0);
  result.setType(start->get().getType());
  while (result.hasOneUse()) {
    auto reader = dyn_cast<linalg::GenericOp>(*result.user_begin());
    if (!isSamePlace(reader) || reader.getNumDpsInputs() != 1)
      break;
    OpBuilder inner(reader);
    type = cast<RankedTensorType>(reader.getResult(0).getType());
    Value target = tensor::EmptyOp::create(inner, reader.getLoc(), turnedSizes, type.getElementType());
    reader.getDpsInitOperand(0)->set(target);
    result = reader.getResult(0);
    result.setType(target.getType());
  }
  b.setInsertionPointAfterValue(result);
  Value whole = tensor::EmptyOp::create(b, result.getLoc(), sizes, type.getElementType());
  auto turned = linalg::TransposeOp::create(b, result.getLoc(), result, whole, invertPermutationVector(order));
  result.replaceAllUsesExcept(turned->getResult(0), turned);
}

} // namespace tenon::compiler::dispatch
