// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.cast from floats by its specification: to an integer, a number is rounded to the nearest, of two the even one,
// and what lies outside of the integer's range is its nearest end; NaN is 0. MLIR's conversion makes of NaN whatever
// its comparisons and the device's conversion leave: 0, the smallest or the largest integer, by type.
//
// Between f16 and bf16, neither of which holds the other, MLIR's conversion writes an operation that does not verify.
// A cast goes through f32, which holds both, so that it rounds once.
#include "compiler/input/tosa_casts.h"
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::input {
namespace {

Value constantOf(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

/// The nearest integer of `type`; 0 for NaN. `value` is f32 or f64.
Value toInteger(OpBuilder &b, Location loc, Value value, IntegerType type) {
  const Type real = value.getType();
  const unsigned magnitudeBits = type.getWidth() - 1;
  const unsigned precision = cast<FloatType>(real).getFPMantissaWidth();
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, value, value);
  Value number = arith::SelectOp::create(b, loc, isNumber, value, constantOf(b, loc, real, 0.0));
  Value rounded = math::RoundEvenOp::create(b, loc, number);
  const double end = std::ldexp(1.0, int(magnitudeBits)); // the first number above the range
  Value least = arith::MaximumFOp::create(b, loc, rounded, constantOf(b, loc, real, -end));
  if (magnitudeBits <= precision) {
    Value clamped = arith::MinimumFOp::create(b, loc, least, constantOf(b, loc, real, end - 1));
    return arith::FPToSIOp::create(b, loc, type, clamped);
  }
  // The largest integer is no float: what is at its place or behind it is chosen.
  Value converted = arith::FPToSIOp::create(b, loc, type, least);
  Value isBehind = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, least, constantOf(b, loc, real, end));
  Value largest = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, APInt::getSignedMaxValue(type.getWidth())));
  return arith::SelectOp::create(b, loc, isBehind, largest, converted);
}

struct ReadCast : OpRewritePattern<tosa::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::CastOp op, PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto from = input ? dyn_cast<FloatType>(input.getElementType()) : FloatType();
    if (!type || !from || from.getWidth() > 64)
      return failure();
    auto integer = dyn_cast<IntegerType>(type.getElementType());
    auto real = dyn_cast<FloatType>(type.getElementType());
    const bool toInt = integer && integer.isSignless() && integer.getWidth() > 1;
    const bool across = real && real != from && real.getWidth() == 16 && from.getWidth() == 16;
    if (!toInt && !across)
      return failure();
    const Location loc = op.getLoc();
    const Type wide = from.getWidth() < 32 ? Type(rewriter.getF32Type()) : Type(from);
    auto found = RankedTensorType::get(input.getShape(), type.getElementType());
    Value empty = buildEmpty(rewriter, loc, found, tensor::getMixedSizes(rewriter, loc, op.getInput()));
    const AffineMap map = rewriter.getMultiDimIdentityMap(unsigned(input.getRank()));
    auto body = [&](OpBuilder &b, Location at, ValueRange elements) {
      Value value = elements[0];
      if (value.getType() != wide)
        value = arith::ExtFOp::create(b, at, wide, value);
      value = toInt ? toInteger(b, at, value, integer) : Value(arith::TruncFOp::create(b, at, real, value));
      linalg::YieldOp::create(b, at, value);
    };
    Value result = linalg::GenericOp::create(
                       rewriter, loc, TypeRange(found), ValueRange(op.getInput()), ValueRange(empty),
                       ArrayRef<AffineMap>{map, map},
                       SmallVector<utils::IteratorType>(size_t(input.getRank()), utils::IteratorType::parallel), body)
                       .getResult(0);
    if (found != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void addCastPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadCast>(patterns.getContext());
}

} // namespace tenon::compiler::input
