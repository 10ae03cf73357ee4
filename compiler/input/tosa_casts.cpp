// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.cast from floats by its specification: to an integer, a number is rounded to the nearest, of two the even one,
// and what lies outside of the integer's range is its nearest end; NaN is 0. MLIR's conversion makes of NaN whatever
// its comparisons and the device's conversion leave: 0, the smallest or the largest integer, by type.
//
// Between f16 and bf16, neither of which holds the other, MLIR's conversion writes an operation that does not verify.
// A cast goes through f32, which holds both, so that it rounds once.
//
// Constants are another matter: MLIR folds an operation on some of them before anybody converts it, and wrongly so
// where a float becomes i1 (126.5 is false), i1 a float (true is -1) and where the product of two i16 is i32 (it is cut
// to 16 bits). So these are read here, too, by patterns that are applied without folding.
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

/// f16 to bf16, or back.
bool isAcross(FloatType from, Type to) {
  return isa<FloatType>(to) && to != from && from.getWidth() == 16 && to.getIntOrFloatBitWidth() == 16;
}

/// What convert() knows.
bool isOwn(Type from, Type to) {
  if (from.isInteger(1))
    return isa<FloatType>(to);
  auto real = dyn_cast<FloatType>(from);
  return real && real.getWidth() <= 64 && (to.isSignlessInteger() || isAcross(real, to));
}

/// The element as one of `to`.
Value convert(OpBuilder &b, Location loc, Value value, Type to) {
  if (value.getType().isInteger(1))
    return arith::UIToFPOp::create(b, loc, to, value);
  if (value.getType().getIntOrFloatBitWidth() < 32)
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  if (isa<FloatType>(to))
    return arith::TruncFOp::create(b, loc, to, value);
  if (to.isInteger(1)) // NaN is not 0
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, constantOf(b, loc, value.getType(), 0.0));
  return toInteger(b, loc, value, cast<IntegerType>(to));
}

struct ReadCast : OpRewritePattern<tosa::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::CastOp op, PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!input || !type || !isOwn(input.getElementType(), type.getElementType()))
      return failure();
    const Location loc = op.getLoc();
    auto found = RankedTensorType::get(input.getShape(), type.getElementType());
    Value empty = buildEmpty(rewriter, loc, found, tensor::getMixedSizes(rewriter, loc, op.getInput()));
    const AffineMap map = rewriter.getMultiDimIdentityMap(unsigned(input.getRank()));
    auto body = [&](OpBuilder &b, Location at, ValueRange elements) {
      linalg::YieldOp::create(b, at, convert(b, at, elements[0], type.getElementType()));
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

/// Factors of i8 and i16, whose product is i32, as i32. MLIR folds constants as if the product had their type.
struct WidenFactors : OpRewritePattern<tosa::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::MulOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    auto factor = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getInput1().getType()));
    if (!type || !factor || factor.getWidth() >= type.getWidth())
      return failure();
    for (OpOperand *operand : {&op.getInput1Mutable(), &op.getInput2Mutable()}) {
      auto narrow = cast<ShapedType>(operand->get().getType());
      Value wide = tosa::CastOp::create(rewriter, op.getLoc(), narrow.clone(type), operand->get());
      rewriter.modifyOpInPlace(op, [&] { operand->set(wide); });
    }
    return success();
  }
};

} // namespace

void addCastPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadCast, WidenFactors>(patterns.getContext());
}

} // namespace tenon::compiler::input
