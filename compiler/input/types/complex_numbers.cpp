// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers become two floats by MLIR's own conversion. In memory they are an integer of both, the real part
// below.
#include "compiler/input/types/patterns.h"

#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct ComplexConstant : OpRewritePattern<complex::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(complex::ConstantOp op, PatternRewriter &rewriter) const override {
    auto part = [&](unsigned number) -> Value {
      return arith::ConstantOp::create(rewriter, op.getLoc(), cast<TypedAttr>(op.getValue()[number]));
    };
    rewriter.replaceOpWithNewOp<complex::CreateOp>(op, op.getType(), part(0), part(1));
    return success();
  }
};

struct SelectComplex : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<ComplexType>(op.getType());
    if (!type)
      return failure();
    const Location loc = op.getLoc();
    auto choose = [&](auto part) -> Value {
      return arith::SelectOp::create(rewriter, loc, op.getCondition(), part(op.getTrueValue()),
                                     part(op.getFalseValue()));
    };
    Value real = choose([&](Value value) -> Value { return complex::ReOp::create(rewriter, loc, value); });
    Value imaginary = choose([&](Value value) -> Value { return complex::ImOp::create(rewriter, loc, value); });
    rewriter.replaceOpWithNewOp<complex::CreateOp>(op, type, real, imaginary);
    return success();
  }
};

/// A part of a number that lies in an integer.
template <typename Part> struct ReadPart : OpRewritePattern<Part> {
  using OpRewritePattern<Part>::OpRewritePattern;
  LogicalResult matchAndRewrite(Part op, PatternRewriter &rewriter) const override {
    auto stored = op.getComplex().template getDefiningOp<complex::BitcastOp>();
    auto whole = stored ? dyn_cast<IntegerType>(stored.getOperand().getType()) : IntegerType();
    if (!whole)
      return failure();
    const Location loc = op.getLoc();
    const unsigned width = whole.getWidth() / 2;
    Value bits = stored.getOperand();
    if (std::is_same_v<Part, complex::ImOp>) {
      Value distance = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(whole, width));
      bits = arith::ShRUIOp::create(rewriter, loc, bits, distance);
    }
    Value half = arith::TruncIOp::create(rewriter, loc, rewriter.getIntegerType(width), bits);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), half);
    return success();
  }
};

/// A number that is moved and not computed with is the integer that it lay in.
struct MoveComplex : OpRewritePattern<complex::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(complex::BitcastOp op, PatternRewriter &rewriter) const override {
    auto stored = op.getOperand().getDefiningOp<complex::BitcastOp>();
    if (!stored || stored.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, stored.getOperand());
    return success();
  }
};

struct StoreComplex : OpRewritePattern<complex::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(complex::BitcastOp op, PatternRewriter &rewriter) const override {
    auto created = op.getOperand().getDefiningOp<complex::CreateOp>();
    auto whole = dyn_cast<IntegerType>(op.getType());
    if (!created || !whole)
      return failure();
    const Location loc = op.getLoc();
    const unsigned width = whole.getWidth() / 2;
    auto bits = [&](Value part) -> Value {
      Value half = arith::BitcastOp::create(rewriter, loc, rewriter.getIntegerType(width), part);
      return arith::ExtUIOp::create(rewriter, loc, whole, half);
    };
    Value distance = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(whole, width));
    Value high = arith::ShLIOp::create(rewriter, loc, bits(created.getImaginary()), distance);
    rewriter.replaceOpWithNewOp<arith::OrIOp>(op, bits(created.getReal()), high);
    return success();
  }
};

} // namespace

LogicalResult lowerComplexNumbers(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet simplify(context);
  simplify.add<ComplexConstant, SelectComplex>(context);
  (void)applyPatternsGreedily(root, std::move(simplify));

  RewritePatternSet convert(context);
  populateComplexToStandardConversionPatterns(convert);
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, math::MathDialect>();
  target.addIllegalDialect<complex::ComplexDialect>();
  target.addLegalOp<complex::CreateOp, complex::ReOp, complex::ImOp, complex::BitcastOp, complex::ConstantOp>();
  if (failed(applyPartialConversion(root, target, std::move(convert))))
    return failure();

  RewritePatternSet store(context);
  store
      .add<ComplexConstant, SelectComplex, ReadPart<complex::ReOp>, ReadPart<complex::ImOp>, MoveComplex, StoreComplex>(
          context);
  (void)applyPatternsGreedily(root, std::move(store));
  return success();
}

} // namespace tenon::compiler::input
