// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/starts.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Sums of products, named or generic.
bool isProduct(linalg::LinalgOp op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return !isOfAttention(generic) && productOf(generic);
  return linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op);
}

/// Whether the sum is an addition: named operations of booleans, and pooling, combine otherwise.
bool isSum(linalg::LinalgOp op) {
  Operation *yielded = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(yielded);
}

/// Whether something small is computed for every element: a start that is not stored then.
bool isComputed(Value start) {
  auto made = start.getDefiningOp<linalg::LinalgOp>();
  return made && !isa<linalg::FillOp>(made.getOperation()) && made.getNumReductionLoops() == 0 &&
         made.hasPureTensorSemantics() && made->getNumResults() == 1 && made->hasOneUse() &&
         llvm::none_of(made.getDpsInits(), [](Value init) { return !init.getDefiningOp<tensor::EmptyOp>(); });
}

void addBehind(linalg::LinalgOp op) {
  OpBuilder b(op);
  const Location loc = op.getLoc();
  OpOperand *init = op.getDpsInitOperand(0);
  Value start = init->get();
  auto type = cast<RankedTensorType>(start.getType());
  SmallVector<Value> sizes = unknownSizesOf(b, loc, start);
  auto emptied = [&] { return tensor::EmptyOp::create(b, loc, type, sizes).getResult(); };
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  init->set(linalg::FillOp::create(b, loc, zero, emptied()).getResult(0));
  b.setInsertionPointAfter(op);
  const AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  auto added = linalg::GenericOp::create(
      b, loc, TypeRange(type), ValueRange{op->getResult(0), start}, emptied(), SmallVector<AffineMap>(3, identity),
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location at, ValueRange values) {
        const bool isFloat = isa<FloatType>(type.getElementType());
        Value sum = isFloat ? arith::AddFOp::create(inner, at, values[0], values[1]).getResult()
                            : arith::AddIOp::create(inner, at, values[0], values[1]).getResult();
        linalg::YieldOp::create(inner, at, sum);
      });
  op->getResult(0).replaceAllUsesExcept(added.getResult(0), added);
}

} // namespace

void addStartsBehind(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> found;
  function.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumReductionLoops() != 0 &&
        isComputed(op.getDpsInits()[0]) && isProduct(op) && isSum(op))
      found.push_back(op);
  });
  for (linalg::LinalgOp op : found)
    addBehind(op);
}

} // namespace tenon::compiler::dispatch
