// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/log_sum.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

Value sizedLike(OpBuilder &b, Location loc, Value logits, unsigned rank, Type element, double start) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    sizes.push_back(getAsOpFoldResult(dimensionOf(b, loc, logits, dimension)));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value fill = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, start));
  return linalg::FillOp::create(b, loc, fill, empty).getResult(0);
}

/// A reduction over the last dimension of the logits.
linalg::GenericOp reduceKeys(OpBuilder &b, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps, Value start,
                             llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  const unsigned loops = cast<RankedTensorType>(inputs.front().getType()).getRank();
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(loops).dropResult(loops - 1));
  return linalg::GenericOp::create(b, loc, start.getType(), inputs, start, all, types,
                                   [&](OpBuilder &inside, Location, ValueRange arguments) {
                                     linalg::YieldOp::create(inside, loc, body(inside, arguments));
                                   });
}

/// log(exp(x) + exp(y)), of -inf and -inf -inf.
Value addExponentials(OpBuilder &b, Location loc, Value x, Value y) {
  auto type = cast<FloatType>(x.getType());
  Value least = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, -INFINITY));
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 0));
  Value largest = arith::MaximumFOp::create(b, loc, x, y);
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, largest, least);
  Value reference = arith::SelectOp::create(b, loc, isNone, zero, largest);
  auto exponential = [&](Value value) -> Value {
    return math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, value, reference));
  };
  Value sum = arith::AddFOp::create(b, loc, exponential(x), exponential(y));
  return arith::AddFOp::create(b, loc, reference, math::LogOp::create(b, loc, sum));
}

} // namespace

linalg::GenericOp createLogSum(OpBuilder &b, Location loc, Value logits, double hidden) {
  auto type = cast<RankedTensorType>(logits.getType());
  Value start = sizedLike(b, loc, logits, type.getRank() - 1, type.getElementType(), -INFINITY);
  linalg::GenericOp logSum = reduceKeys(b, loc, logits, b.getMultiDimIdentityMap(type.getRank()), start,
                                        [&](OpBuilder &inside, ValueRange arguments) {
                                          return addExponentials(inside, loc, arguments[1], arguments[0]);
                                        });
  logSum->setAttr(kLogSumExp, b.getF64FloatAttr(hidden));
  return logSum;
}

void openLogSum(linalg::GenericOp logSum) {
  OpBuilder b(logSum);
  const Location loc = logSum.getLoc();
  Value logits = logSum.getDpsInputs()[0];
  auto type = cast<RankedTensorType>(logSum->getResult(0).getType());
  Type element = type.getElementType();
  const unsigned loops = logSum.getNumLoops();
  const AffineMap whole = b.getMultiDimIdentityMap(loops), ofRow = whole.dropResult(loops - 1);
  const double hidden = logSum->getAttrOfType<FloatAttr>(kLogSumExp).getValueAsDouble();
  auto constant = [&](OpBuilder &inside, double value) -> Value {
    return arith::ConstantOp::create(inside, loc, inside.getFloatAttr(element, value));
  };
  // -inf is subtracted as 0, so that a row that sees nothing has the sum 0.
  auto reference = [&](OpBuilder &inside, Value largest) -> Value {
    Value isHidden =
        arith::CmpFOp::create(inside, loc, arith::CmpFPredicate::OEQ, largest, constant(inside, -INFINITY));
    return arith::SelectOp::create(inside, loc, isHidden, constant(inside, 0), largest);
  };
  Value largest = reduceKeys(b, loc, logits, whole, sizedLike(b, loc, logits, loops - 1, element, -INFINITY),
                             [&](OpBuilder &inside, ValueRange arguments) -> Value {
                               return arith::MaximumFOp::create(inside, loc, arguments[0], arguments[1]);
                             })
                      ->getResult(0);
  Value sum = reduceKeys(b, loc, {logits, largest}, {whole, ofRow}, sizedLike(b, loc, logits, loops - 1, element, 0),
                         [&](OpBuilder &inside, ValueRange arguments) -> Value {
                           Value difference =
                               arith::SubFOp::create(inside, loc, arguments[0], reference(inside, arguments[1]));
                           return arith::AddFOp::create(inside, loc, math::ExpOp::create(inside, loc, difference),
                                                        arguments[2]);
                         })
                  ->getResult(0);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, largest);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  const AffineMap rows = b.getMultiDimIdentityMap(loops - 1);
  SmallVector<utils::IteratorType> types(loops - 1, utils::IteratorType::parallel);
  auto last = linalg::GenericOp::create(
      b, loc, type, ValueRange{largest, sum}, empty, {rows, rows, rows}, types,
      [&](OpBuilder &inside, Location, ValueRange arguments) {
        Value total = arith::AddFOp::create(inside, loc, reference(inside, arguments[0]),
                                            math::LogOp::create(inside, loc, arguments[1]));
        Value isHidden =
            arith::CmpFOp::create(inside, loc, arith::CmpFPredicate::OEQ, arguments[1], constant(inside, 0));
        linalg::YieldOp::create(
            inside, loc, arith::SelectOp::create(inside, loc, isHidden, constant(inside, hidden), total).getResult());
      });
  logSum->getResult(0).replaceAllUsesWith(last->getResult(0));
  logSum.erase();
}

} // namespace tenon::compiler::dispatch
