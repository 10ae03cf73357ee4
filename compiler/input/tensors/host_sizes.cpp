// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Front ends ask of sizes whether they are negative: of torch, each -1 of a reshape and each end of a slice is counted
// from the end then.
//
//   %size = tensor.dim %x, %c0        %1 = arith.cmpi slt, %size, %c0        %2 = arith.select %1, %c1, %size
//
// A size is not, nor is the number of a loop, so %2 is %size. They also count in i64: %size is cast there and back.
// Without either, whoever compares sizes later sees that two of them are the same one.
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

constexpr unsigned kMostDeep = 8;

/// Of types that hold every size: an index, 64 bits.
bool isWide(Type type) {
  return type.isIndex() || type.isInteger(64);
}

bool isNotNegative(Value value, unsigned depth = 0) {
  if (!isWide(value.getType()) || depth > kMostDeep)
    return false;
  auto areAll = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value each) { return isNotNegative(each, depth + 1); });
  };
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return !number.isNegative();
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::DimOp, linalg::IndexOp>(op))
    return true;
  if (isa<arith::IndexCastOp>(op))
    return areAll(op->getOperands());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return areAll({select.getTrueValue(), select.getFalseValue()});
  if (isa<arith::MinSIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(op))
    return areAll(op->getOperands());
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value each) { return isNotNegative(each, depth + 1); });
  return false;
}

/// Whether `size < 0`, or the like, is asked: what the answer is.
std::optional<bool> answerOf(arith::CmpIOp op) {
  arith::CmpIPredicate predicate = op.getPredicate();
  Value size = op.getLhs(), bound = op.getRhs();
  APInt number;
  if (matchPattern(size, m_ConstantInt(&number))) {
    std::swap(size, bound);
    predicate = predicate == arith::CmpIPredicate::sgt   ? arith::CmpIPredicate::slt
                : predicate == arith::CmpIPredicate::sle ? arith::CmpIPredicate::sge
                                                         : arith::CmpIPredicate::eq;
  }
  if (!matchPattern(bound, m_ConstantInt(&number)) || number.isStrictlyPositive() || !isNotNegative(size))
    return std::nullopt;
  if (predicate == arith::CmpIPredicate::slt)
    return false;
  if (predicate == arith::CmpIPredicate::sge)
    return true;
  // No size is -1, which stands for the size that is to be found.
  if (number.isNegative() && op.getPredicate() == arith::CmpIPredicate::eq)
    return false;
  if (number.isNegative() && op.getPredicate() == arith::CmpIPredicate::ne)
    return true;
  return std::nullopt;
}

} // namespace

void simplifySizes(func::FuncOp function) {
  SmallVector<arith::CmpIOp> comparisons;
  function.walk([&](arith::CmpIOp op) { comparisons.push_back(op); });
  for (arith::CmpIOp op : comparisons) {
    const std::optional<bool> answer = answerOf(op);
    if (!answer)
      continue;
    // One of them may have the comparison as a value, too.
    llvm::SmallSetVector<arith::SelectOp, 4> chosen;
    for (Operation *user : op->getUsers())
      if (auto select = dyn_cast<arith::SelectOp>(user); select && select.getCondition() == op.getResult())
        chosen.insert(select);
    for (arith::SelectOp select : chosen) {
      select.replaceAllUsesWith(*answer ? select.getTrueValue() : select.getFalseValue());
      select.erase();
    }
    OpBuilder b(op);
    op.replaceAllUsesWith(arith::ConstantIntOp::create(b, op.getLoc(), op.getType(), int64_t(*answer)).getResult());
    op.erase();
  }
  function.walk([](arith::IndexCastOp op) {
    if (auto there = op.getIn().getDefiningOp<arith::IndexCastOp>();
        there && isWide(there.getType()) && isWide(op.getType()) && there.getIn().getType() == op.getType())
      op.replaceAllUsesWith(there.getIn());
  });
}

} // namespace tenon::compiler::input
