// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/lanes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

Order sum(Order x, Order y) {
  if (x == Order::Same || y == Order::Same)
    return x == Order::Same ? y : x;
  return Order::Any;
}

Order difference(Order x, Order y) {
  return y == Order::Same ? x : Order::Any;
}

/// The smaller or the larger of both.
Order bounded(Order x, Order y) {
  const Order one = sum(x, y);
  return one == Order::Run ? Order::Steps : one;
}

Order expressionOrder(AffineExpr expr, ArrayRef<Lanes> operands, unsigned dims) {
  if (isa<AffineConstantExpr>(expr))
    return Order::Same;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()].order;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[dims + symbol.getPosition()].order;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const Order x = expressionOrder(binary.getLHS(), operands, dims);
  const Order y = expressionOrder(binary.getRHS(), operands, dims);
  if (expr.getKind() == AffineExprKind::Add)
    return sum(x, y);
  return x == Order::Same && y == Order::Same ? Order::Same : Order::Any;
}

} // namespace

Order orderOf(Operation &op, ArrayRef<Lanes> operands) {
  if (llvm::all_of(operands, [](const Lanes &lanes) { return lanes.isSame(); }))
    return Order::Same;
  if (isa<arith::AddIOp>(op))
    return sum(operands[0].order, operands[1].order);
  if (isa<arith::SubIOp>(op))
    return difference(operands[0].order, operands[1].order);
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return bounded(operands[0].order, operands[1].order);
  // Positions in 64 bits wrap nowhere; in fewer, neighbours may be far apart.
  auto isWide = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && isWide(op.getOperand(0).getType()) &&
      isWide(op.getResult(0).getType()))
    return operands[0].order;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return expressionOrder(apply.getAffineMap().getResult(0), operands, apply.getAffineMap().getNumDims());
  return Order::Any;
}

bool holdsBetween(Value condition, function_ref<Lanes(Value)> lanesOf) {
  if (lanesOf(condition).isSame())
    return true;
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return holdsBetween(both.getLhs(), lanesOf) && holdsBetween(both.getRhs(), lanesOf);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !lanesOf(compare.getLhs()).isRun() || !lanesOf(compare.getRhs()).isSame())
    return false;
  // A run below zero is a run of huge numbers without a sign, of which none is below a size; then it starts at zero.
  using Predicate = arith::CmpIPredicate;
  return llvm::is_contained(
      {Predicate::ult, Predicate::ule, Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge},
      compare.getPredicate());
}

} // namespace tenon::compiler::codegen
