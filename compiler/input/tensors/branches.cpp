// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition inside of a body: both sides are computed, and a select takes one. What must not happen on the side that
// is not taken does not: it divides by one, and reads the first element.
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isSimple(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
           llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  });
}

/// Operand `number` of the operation, where the side is taken; else `other`.
void guard(PatternRewriter &rewriter, Operation &op, unsigned number, Value isTaken, int64_t other) {
  rewriter.setInsertionPoint(&op);
  Value value = op.getOperand(number);
  Value safe = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getIntegerAttr(value.getType(), other));
  Value guarded = arith::SelectOp::create(rewriter, op.getLoc(), isTaken, value, safe);
  rewriter.modifyOpInPlace(&op, [&] { op.setOperand(number, guarded); });
}

/// Nested conditions first: their sides have no regions then.
struct SelectOfIf : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op, PatternRewriter &rewriter) const override {
    if (!op->getParentOfType<linalg::GenericOp>() || op.getNumResults() == 0 || !op.elseBlock() ||
        !isSimple(*op.thenBlock()) || !isSimple(*op.elseBlock()))
      return failure();
    rewriter.setInsertionPoint(op);
    Value isTrue = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getBoolAttr(true));
    Value isElse = arith::XOrIOp::create(rewriter, op.getLoc(), op.getCondition(), isTrue);
    SmallVector<Value> sides[2];
    for (auto [number, block, isTaken] :
         {std::tuple(0, op.thenBlock(), Value(op.getCondition())), std::tuple(1, op.elseBlock(), isElse)}) {
      for (Operation &inner : llvm::make_early_inc_range(block->without_terminator())) {
        rewriter.moveOpBefore(&inner, op);
        if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                arith::FloorDivSIOp>(inner))
          guard(rewriter, inner, 1, isTaken, 1);
        if (isa<tensor::ExtractOp>(inner))
          for (unsigned index = 1; index < inner.getNumOperands(); ++index)
            guard(rewriter, inner, index, isTaken, 0);
      }
      sides[number] = llvm::to_vector(block->getTerminator()->getOperands());
    }
    rewriter.setInsertionPoint(op);
    SmallVector<Value> results;
    for (auto [yes, no] : llvm::zip_equal(sides[0], sides[1]))
      results.push_back(arith::SelectOp::create(rewriter, op.getLoc(), op.getCondition(), yes, no));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void addBranchPatterns(RewritePatternSet &patterns) {
  patterns.add<SelectOfIf>(patterns.getContext());
}

} // namespace tenon::compiler::input
