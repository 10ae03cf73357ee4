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

  LogicalResult run() {
    const SmallVector<int64_t> steps = op_.getStaticLoopRanges();
    // Of no steps nothing is read.
    if (llvm::is_contained(steps, ShapedType::kDynamic) && !llvm::is_contained(steps, 0) && failed(compareKnown(steps)))
      return failure();
    for (OpOperand *input : op_.getDpsInputOperands())
      for (auto [dimension, expr] : llvm::enumerate(op_.getMatchingIndexingMap(input).getResults()))
        if (isa<AffineBinaryOpExpr>(expr) && growsWithLoops(expr) && isOpen(expr, *input, dimension, steps))
          check(expr, *input, dimension);
    return success();
  }

private:
  /// Every known dimension with what the loops read of it.
  LogicalResult compareKnown(ArrayRef<int64_t> steps) {
    for (OpOperand &operand : op_->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      for (auto [dimension, expr] : llvm::enumerate(op_.getMatchingIndexingMap(&operand).getResults())) {
        const std::optional<int64_t> last = knownLast(expr, steps);
        const int64_t size = type.getDimSize(int64_t(dimension));
        if (!last || type.isDynamicDim(dimension) || (isa<AffineDimExpr>(expr) ? *last + 1 == size : *last < size))
          continue;
        return op_.emitOpError() << "reads or writes " << *last + 1 << " elements along dimension " << dimension
                                 << " of operand " << operand.getOperandNumber() << ", which has " << size
                                 << "; give the tensor a type with " << *last + 1 << " there, or take a slice of it";
      }
    }
    return success();
  }

  /// The index where every loop is at its last step; nothing where a loop's size is unknown, or it has none.
  static std::optional<int64_t> knownLast(AffineExpr expr, ArrayRef<int64_t> steps) {
    if (!growsWithLoops(expr) || isa<AffineConstantExpr>(expr))
      return std::nullopt;
    SmallVector<AffineExpr> last;
    bool isKnown = true;
    for (auto [loop, size] : llvm::enumerate(steps)) {
      isKnown &= !expr.isFunctionOfDim(unsigned(loop)) ||
                 (!ShapedType::isDynamic(size) && (size > 0 || isa<AffineDimExpr>(expr)));
      last.push_back(getAffineConstantExpr(ShapedType::isDynamic(size) ? 0 : size - 1, expr.getContext()));
    }
    auto found = dyn_cast<AffineConstantExpr>(expr.replaceDims(last));
    return isKnown && found ? std::optional(found.getValue()) : std::nullopt;
  }

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

LogicalResult checkWindows(func::FuncOp function) {
  bool isGood = true;
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::LinalgOp>()))
      if (op.hasPureTensorSemantics())
        isGood &= succeeded(WindowChecks(op).run());
  return success(isGood);
}

} // namespace tenon::compiler::dispatch
