// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/narrow_divisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isNarrow(Type type) {
  return type.isF16() || type.isBF16();
}

float wide(APFloat number) {
  bool loses = false;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToFloat();
}

APInt rounded(float number, const llvm::fltSemantics &semantics) {
  APFloat made(number);
  bool loses = false;
  made.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return made.bitcastToAPInt();
}

/// Whether every number divided by `divisor`, and times `factor`, is rounded to the same; with another sign it is then,
/// too.
bool areTheSame(const llvm::fltSemantics &semantics, float divisor, float factor) {
  for (uint32_t bits = 0; bits < 0x8000; ++bits) {
    const APFloat number(semantics, APInt(16, bits));
    if (number.isNaN())
      continue;
    const float x = wide(number);
    if (rounded(x / divisor, semantics) != rounded(x * factor, semantics))
      return false;
  }
  return true;
}

struct DivideByConstant : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    FloatAttr constant;
    if (!isNarrow(op.getType()) || !matchPattern(op.getRhs(), m_Constant(&constant)) ||
        !constant.getValue().isFiniteNonZero())
      return failure();
    const float divisor = wide(constant.getValue()), factor = 1 / divisor;
    if (!std::isfinite(factor))
      return failure();
    const llvm::fltSemantics &semantics = cast<FloatType>(op.getType()).getFloatSemantics();
    auto [found, isNew] = known_.try_emplace({&semantics, divisor}, false);
    if (isNew)
      found->second = areTheSame(semantics, divisor, factor);
    if (!found->second)
      return failure();
    const Location loc = op.getLoc();
    Value x = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(), op.getLhs());
    Value reciprocal = arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(factor));
    Value product = arith::MulFOp::create(rewriter, loc, x, reciprocal);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), product);
    return success();
  }

private:
  /// Of what was asked: a model divides by few numbers, again and again.
  mutable std::map<std::pair<const llvm::fltSemantics *, float>, bool> known_;
};

struct RootOfConstant : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SqrtOp op, PatternRewriter &rewriter) const override {
    FloatAttr constant;
    if (!isNarrow(op.getType()) || !matchPattern(op.getOperand(), m_Constant(&constant)) ||
        !constant.getValue().isFinite() || constant.getValue().isNegative())
      return failure();
    const float root = std::sqrt(wide(constant.getValue()));
    const llvm::fltSemantics &semantics = cast<FloatType>(op.getType()).getFloatSemantics();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, FloatAttr::get(op.getType(), APFloat(semantics, rounded(root, semantics))));
    return success();
  }
};

} // namespace

void addNarrowDivisions(RewritePatternSet &patterns) {
  patterns.add<DivideByConstant, RootOfConstant>(patterns.getContext());
}

} // namespace tenon::compiler::dispatch
