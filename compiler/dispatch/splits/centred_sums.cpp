// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/centred_sums.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Operations between a sum and what is made of it, and inside of a body.
constexpr size_t kMaxBetween = 16;
constexpr unsigned kMaxDepth = 24;

Value beforeWidening(Value value) {
  while (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  return value;
}

/// Whether a value of the body of `a` is one of that of `b`, at each element.
bool areSame(linalg::GenericOp a, Value x, linalg::GenericOp b, Value y, unsigned depth = 0) {
  x = beforeWidening(x);
  y = beforeWidening(y);
  auto isInside = [](linalg::GenericOp op, Value value) { return value.getParentBlock() == op.getBody(); };
  if (!isInside(a, x) || !isInside(b, y))
    return x == y;
  if (depth > kMaxDepth || x.getType() != y.getType() || isa<BlockArgument>(x) != isa<BlockArgument>(y))
    return false;
  if (auto here = dyn_cast<BlockArgument>(x)) {
    OpOperand *p = a.getMatchingOpOperand(here), *q = b.getMatchingOpOperand(cast<BlockArgument>(y));
    return a.isDpsInput(p) && b.isDpsInput(q) && p->get() == q->get() &&
           a.getMatchingIndexingMap(p) == b.getMatchingIndexingMap(q);
  }
  Operation *p = x.getDefiningOp(), *q = y.getDefiningOp();
  if (p->getName() != q->getName() || p->getAttrs() != q->getAttrs() || p->getNumRegions() != 0 ||
      p->getNumOperands() != q->getNumOperands() || p->getNumResults() != 1 ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(p->getDialect()))
    return false;
  return llvm::all_of(llvm::zip_equal(p->getOperands(), q->getOperands()), [&](auto operands) {
    return areSame(a, std::get<0>(operands), b, std::get<1>(operands), depth + 1);
  });
}

/// What the operation sums, where that is all it does.
Value summedBy(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || !isTreeReduction(op))
    return {};
  const auto accumulators = reductionBodyOf(op);
  return accumulators->front().combiner == Combiner::AddF ? accumulators->front().contributed : Value();
}

bool knows(Value value, Value other) {
  llvm::SmallSetVector<Value, 16> seen;
  seen.insert(value);
  for (size_t next = 0; next < seen.size(); ++next) {
    if (seen[next] == other)
      return true;
    if (Operation *op = seen[next].getDefiningOp(); op && op->getBlock() == other.getParentBlock())
      seen.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// The sum of `x`, a value of the body of `op`, that `center` is made of.
linalg::GenericOp plainSumOf(linalg::GenericOp op, Value x, Value center) {
  llvm::SmallSetVector<Value, 16> open;
  open.insert(center);
  for (size_t next = 0; next < open.size() && next < kMaxBetween; ++next) {
    auto producer = open[next].getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != op->getBlock())
      continue;
    if (producer.getNumReductionLoops() == 0) {
      for (OpOperand *input : producer.getDpsInputOperands())
        open.insert(input->get());
      continue;
    }
    Value summed = producer.getIteratorTypesArray() == op.getIteratorTypesArray() ? summedBy(producer) : Value();
    if (summed &&
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)) ==
            op.getMatchingIndexingMap(op.getDpsInitOperand(0)) &&
        areSame(producer, summed, op, x))
      return producer;
  }
  return {};
}

} // namespace

std::optional<CentredSum> centredSumOf(linalg::GenericOp op) {
  Value summed = summedBy(op);
  auto square = summed ? summed.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!square || square.getLhs() != square.getRhs())
    return std::nullopt;
  const Type type = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  auto difference = square.getLhs().getDefiningOp<arith::SubFOp>();
  if (!difference || (!type.isF32() && !type.isF64()) || square.getType() != type || difference.getType() != type)
    return std::nullopt;
  auto center = dyn_cast<BlockArgument>(beforeWidening(difference.getRhs()));
  if (!center || center.getOwner() != op.getBody() || knows(difference.getLhs(), center))
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(center);
  if (!op.isDpsInput(operand) || !isa<RankedTensorType>(operand->get().getType()) ||
      op.getMatchingIndexingMap(operand) != op.getMatchingIndexingMap(op.getDpsInitOperand(0)))
    return std::nullopt;
  linalg::GenericOp plain = plainSumOf(op, difference.getLhs(), operand->get());
  return plain ? std::optional(CentredSum{plain, operand, difference.getRhs()}) : std::nullopt;
}

Value meansOfParts(OpBuilder &b, Location loc, Value sums, ElementsOfPart elements) {
  auto type = cast<RankedTensorType>(sums.getType());
  SmallVector<OpFoldResult> shape;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    shape.push_back(getAsOpFoldResult(dimensionOf(b, loc, sums, dimension)));
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), sums, empty, ArrayRef<AffineMap>{map, map}, types,
                                   [&](OpBuilder &inside, Location, ValueRange arguments) {
                                     Value count = elements(inside, type.getElementType());
                                     Value mean = arith::DivFOp::create(inside, loc, arguments[0], count);
                                     linalg::YieldOp::create(inside, loc, mean);
                                   })
      .getResult(0);
}

Value movedToCenter(OpBuilder &b, Location loc, Value squares, Value sum, Value center, ElementsOfPart elements) {
  Value count = elements(b, squares.getType());
  if (center.getType() != squares.getType())
    center = arith::ExtFOp::create(b, loc, squares.getType(), center);
  Value mean = arith::DivFOp::create(b, loc, sum, count);
  Value away = arith::SubFOp::create(b, loc, mean, center);
  Value all = arith::MulFOp::create(b, loc, count, arith::MulFOp::create(b, loc, away, away));
  return arith::AddFOp::create(b, loc, squares, all);
}

} // namespace tenon::compiler::dispatch
