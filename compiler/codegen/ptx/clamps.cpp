// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/clamps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Predicate = arith::CmpFPredicate;

/// x where `predicate` holds of x and a constant, else the constant.
struct Clamp {
  bool isMax, keepsNaN; // takes the larger one; x where that is no number
  bool keepsEqual;      // x where both are equal: of two zeros the sign is that of x
};

std::optional<Clamp> clampOf(Predicate predicate) {
  switch (predicate) {
  case Predicate::OGT:
    return Clamp{true, false, false};
  case Predicate::OGE:
    return Clamp{true, false, true};
  case Predicate::UGT:
    return Clamp{true, true, false};
  case Predicate::UGE:
    return Clamp{true, true, true};
  case Predicate::OLT:
    return Clamp{false, false, false};
  case Predicate::OLE:
    return Clamp{false, false, true};
  case Predicate::ULT:
    return Clamp{false, true, false};
  case Predicate::ULE:
    return Clamp{false, true, true};
  default:
    return std::nullopt;
  }
}

/// The predicate that holds of (y, x) where `predicate` holds of (x, y).
Predicate turned(Predicate predicate) {
  switch (predicate) {
  case Predicate::OGT:
    return Predicate::OLT;
  case Predicate::OGE:
    return Predicate::OLE;
  case Predicate::UGT:
    return Predicate::ULT;
  case Predicate::UGE:
    return Predicate::ULE;
  case Predicate::OLT:
    return Predicate::OGT;
  case Predicate::OLE:
    return Predicate::OGE;
  case Predicate::ULT:
    return Predicate::UGT;
  case Predicate::ULE:
    return Predicate::UGE;
  default:
    return predicate;
  }
}

/// The predicate that holds where `predicate` does not.
Predicate negated(Predicate predicate) {
  switch (predicate) {
  case Predicate::OGT:
    return Predicate::ULE;
  case Predicate::OGE:
    return Predicate::ULT;
  case Predicate::UGT:
    return Predicate::OLE;
  case Predicate::UGE:
    return Predicate::OLT;
  case Predicate::OLT:
    return Predicate::UGE;
  case Predicate::OLE:
    return Predicate::UGT;
  case Predicate::ULT:
    return Predicate::OGE;
  case Predicate::ULE:
    return Predicate::OGT;
  default:
    return predicate;
  }
}

struct ClampBySelect : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    auto compared = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compared || !isa<Float32Type, BFloat16Type, Float16Type>(op.getType()))
      return failure();
    Value x = compared.getLhs(), constant = compared.getRhs();
    Predicate predicate = compared.getPredicate();
    APFloat number(0.0F);
    if (!matchPattern(constant, m_ConstantFloat(&number))) {
      std::swap(x, constant);
      predicate = turned(predicate);
      if (!matchPattern(constant, m_ConstantFloat(&number)))
        return failure();
    }
    if (number.isNaN())
      return failure();
    // Two constants of one value may be two operations.
    auto isConstant = [&](Value value) {
      APFloat other(0.0F);
      return value == constant || (matchPattern(value, m_ConstantFloat(&other)) && other.bitwiseIsEqual(number));
    };
    if (op.getFalseValue() == x && isConstant(op.getTrueValue()))
      predicate = negated(predicate);
    else if (op.getTrueValue() != x || !isConstant(op.getFalseValue()))
      return failure();
    const std::optional<Clamp> clamp = clampOf(predicate);
    if (!clamp)
      return failure();
    // Of zeros of two signs the instruction takes +0 as the larger one. Which one is taken here is x's or the
    // constant's sign, whatever the other one's is.
    if (number.isZero()) {
      const bool takesPositive = clamp->isMax, ofConstant = !number.isNegative();
      if ((clamp->keepsEqual ? !ofConstant : ofConstant) != takesPositive)
        return failure();
    }
    const Location loc = op.getLoc();
    Value made;
    if (clamp->isMax)
      made = clamp->keepsNaN ? arith::MaximumFOp::create(rewriter, loc, x, constant).getResult()
                             : arith::MaxNumFOp::create(rewriter, loc, x, constant).getResult();
    else
      made = clamp->keepsNaN ? arith::MinimumFOp::create(rewriter, loc, x, constant).getResult()
                             : arith::MinNumFOp::create(rewriter, loc, x, constant).getResult();
    rewriter.replaceOp(op, made);
    return success();
  }
};

} // namespace

void addClamps(RewritePatternSet &patterns) {
  patterns.add<ClampBySelect>(patterns.getContext());
}

} // namespace tenon::compiler::codegen
