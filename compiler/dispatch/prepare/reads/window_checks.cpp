// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/window_checks.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Is it largest where every loop is at its last step?
bool growsWithLoops(AffineExpr expr) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto factor = dyn_cast<AffineConstantExpr>(sum.getRHS());
    if (expr.getKind() == AffineExprKind::Add)
      return growsWithLoops(sum.getLHS()) && growsWithLoops(sum.getRHS());
    return expr.getKind() == AffineExprKind::Mul && factor && factor.getValue() >= 0 && growsWithLoops(sum.getLHS());
  }
  return isa<AffineDimExpr, AffineConstantExpr>(expr);
}

class WindowChecks {
public:
  explicit WindowChecks(linalg::LinalgOp op) : op_(op), b_(op), loc_(op.getLoc()), sizes_(op.getNumLoops()) {}

  void run() {
    const SmallVector<int64_t> steps = op_.getStaticLoopRanges();
    for (OpOperand *input : op_.getDpsInputOperands())
      for (auto [dimension, expr] : llvm::enumerate(op_.getMatchingIndexingMap(input).getResults()))
        if (isa<AffineBinaryOpExpr>(expr) && growsWithLoops(expr) && isOpen(expr, *input, dimension, steps))
          check(expr, *input, dimension);
  }

private:
  /// Is a size of it not known? Others were compared when the operation was verified.
  bool isOpen(AffineExpr expr, OpOperand &input, int64_t dimension, ArrayRef<int64_t> steps) {
    bool isOpen = cast<RankedTensorType>(input.get().getType()).isDynamicDim(dimension), isFound = true;
    expr.walk([&](AffineExpr part) {
      if (auto loop = dyn_cast<AffineDimExpr>(part)) {
        isOpen |= ShapedType::isDynamic(steps[loop.getPosition()]);
        isFound &= bool(sizeOf(loop));
      }
    });
    return isOpen && isFound;
  }

  /// How many steps a loop has; null where no operand has it as a dimension.
  Value sizeOf(AffineDimExpr loop) {
    Value &size = sizes_[loop.getPosition()];
    for (OpOperand &operand : op_->getOpOperands()) {
      if (size)
        break;
      if (std::optional<unsigned> place = op_.getMatchingIndexingMap(&operand).getResultPosition(loop))
        size = dimensionOf(b_, loc_, operand.get(), *place);
    }
    return size;
  }

  Value number(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }

  /// Where every loop is at its last step.
  Value largest(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return number(constant.getValue());
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      return b_.createOrFold<arith::SubIOp>(loc_, sizeOf(loop), number(1));
    auto parts = cast<AffineBinaryOpExpr>(expr);
    Value left = largest(parts.getLHS()), right = largest(parts.getRHS());
    return expr.getKind() == AffineExprKind::Add ? b_.createOrFold<arith::AddIOp>(loc_, left, right)
                                                 : b_.createOrFold<arith::MulIOp>(loc_, left, right);
  }

  void check(AffineExpr expr, OpOperand &input, int64_t dimension) {
    Value there = dimensionOf(b_, loc_, input.get(), dimension);
    Value isGood = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, largest(expr), there);
    // A loop without a step reads nothing.
    expr.walk([&](AffineExpr part) {
      if (auto loop = dyn_cast<AffineDimExpr>(part)) {
        Value isEmpty = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, sizeOf(loop), number(0));
        isGood = arith::OrIOp::create(b_, loc_, isGood, isEmpty);
      }
    });
    cf::AssertOp::create(b_, loc_, isGood,
                         ("dimension " + Twine(dimension) + " of operand " + Twine(input.getOperandNumber()) +
                          " ends before the last element that is read of it")
                             .str());
  }

  linalg::LinalgOp op_;
  OpBuilder b_;
  Location loc_;
  SmallVector<Value> sizes_;
};

} // namespace

void checkWindows(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::LinalgOp>()))
      if (op.hasPureTensorSemantics())
        WindowChecks(op).run();
}

} // namespace tenon::compiler::dispatch
