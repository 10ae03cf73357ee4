// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of 8 and of 4 bits, by the bits of f32 and f64. Of M bits of mantissa and bias B, the byte s eeee mmm means
// (-1)^s * 2^(e - B) * 1.m, or, where e is 0, 2^(1 - B) * 0.m. Formats with FN in their name have no infinity: what is
// too large becomes NaN; those with UZ have no -0, whose place NaN takes. f4E2M1FN has neither: what is too large
// becomes the largest.
#include "compiler/input/types/patterns.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// What a format is, as unsigned integers without the sign.
struct Format {
  explicit Format(Type type) {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    mantissa = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
    width = type.getIntOrFloatBitWidth();
    largest = APFloat::getLargest(semantics).bitcastToAPInt().getZExtValue();
    hasNaN = APFloat::semanticsHasNaN(semantics);
    nan = hasNaN ? APFloat::getNaN(semantics).bitcastToAPInt().getZExtValue() : largest;
    if (APFloat::semanticsHasInf(semantics))
      infinity = APFloat::getInf(semantics).bitcastToAPInt().getZExtValue();
  }
  bool hasNegativeZero() const { return nan != signBit(); }
  uint64_t signBit() const { return uint64_t(1) << (width - 1); }

  unsigned width, mantissa;
  int bias;
  bool hasNaN;
  uint64_t largest, nan;
  std::optional<uint64_t> infinity;
};

/// Arithmetic on the bits of an f32 or f64, in the integer of its width.
class Bits {
public:
  Bits(OpBuilder &b, Location loc, FloatType wide)
      : b_(b), loc_(loc), wide_(wide), integer_(b.getIntegerType(wide.getWidth())) {}

  /// The low bits of `value`: a mask may be the complement of another one, in 64 bits.
  Value number(uint64_t value) {
    const APInt bits(integer_.getWidth(), value, /*isSigned=*/false, /*implicitTrunc=*/true);
    return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(integer_, bits));
  }
  template <typename Op> Value both(Value x, Value y) { return Op::create(b_, loc_, x, y); }
  template <typename Op> Value with(Value x, uint64_t y) { return both<Op>(x, number(y)); }
  Value compare(arith::CmpIPredicate predicate, Value x, uint64_t y) {
    return arith::CmpIOp::create(b_, loc_, predicate, x, number(y));
  }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b_, loc_, condition, yes, no); }
  Value select(Value condition, uint64_t yes, Value no) { return select(condition, number(yes), no); }
  Value power(int exponent) {
    return arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(wide_, std::ldexp(1.0, exponent)));
  }
  Value asFloat(Value bits) { return arith::BitcastOp::create(b_, loc_, wide_, bits); }
  Value asBits(Value value) { return arith::BitcastOp::create(b_, loc_, integer_, value); }

  Value widen(Value bits, const Format &format);
  Value round(Value value, const Format &format);

private:
  unsigned mantissa() const { return wide_.isF32() ? 23 : 52; }
  int bias() const { return wide_.isF32() ? 127 : 1023; }
  unsigned signBit() const { return integer_.getWidth() - 1; }
  uint64_t infinity() const { return uint64_t(2 * bias() + 1) << mantissa(); }

  OpBuilder &b_;
  Location loc_;
  FloatType wide_;
  IntegerType integer_;
};

/// Exact.
Value Bits::widen(Value bits, const Format &format) {
  Value all = arith::ExtUIOp::create(b_, loc_, integer_, bits);
  Value magnitude = with<arith::AndIOp>(all, format.signBit() - 1);
  Value shifted = with<arith::ShLIOp>(magnitude, mantissa() - format.mantissa);
  Value normal = with<arith::AddIOp>(shifted, uint64_t(bias() - format.bias) << mantissa());
  Value small = arith::UIToFPOp::create(b_, loc_, wide_, magnitude);
  Value subnormal = asBits(both<arith::MulFOp>(small, power(1 - format.bias - int(format.mantissa))));
  Value result =
      select(compare(arith::CmpIPredicate::ult, magnitude, uint64_t(1) << format.mantissa), subnormal, normal);
  const uint64_t quiet = infinity() | uint64_t(1) << (mantissa() - 1);
  if (format.hasNegativeZero())
    result =
        select(compare(arith::CmpIPredicate::ugt, magnitude, format.infinity.value_or(format.largest)), quiet, result);
  else
    result = select(compare(arith::CmpIPredicate::eq, all, format.nan), quiet, result);
  if (format.infinity)
    result = select(compare(arith::CmpIPredicate::eq, magnitude, *format.infinity), infinity(), result);
  Value sign = with<arith::ShLIOp>(with<arith::AndIOp>(all, format.signBit()), signBit() - format.width + 1);
  return asFloat(both<arith::OrIOp>(result, sign));
}

/// To the nearest, of two as near to the even one.
Value Bits::round(Value value, const Format &format) {
  const unsigned dropped = mantissa() - format.mantissa;
  Value all = asBits(value);
  Value magnitude = with<arith::AndIOp>(all, ~(uint64_t(1) << signBit()));
  // Half of the last place that is kept, less one where that place is even.
  Value last = with<arith::AndIOp>(with<arith::ShRUIOp>(magnitude, dropped), 1);
  Value half = with<arith::AddIOp>(last, (uint64_t(1) << (dropped - 1)) - 1);
  Value kept = with<arith::ShRUIOp>(both<arith::AddIOp>(magnitude, half), dropped);
  Value normal = with<arith::SubIOp>(kept, uint64_t(bias() - format.bias) << format.mantissa);
  // Added to a number whose last place is that of the small ones, which the addition rounds to.
  Value magic = power(1 - format.bias + int(dropped));
  Value sum = both<arith::AddFOp>(asFloat(magnitude), magic);
  Value subnormal = both<arith::SubIOp>(asBits(sum), asBits(magic));
  const uint64_t leastNormal = uint64_t(1 - format.bias + bias()) << mantissa();
  Value result = select(compare(arith::CmpIPredicate::ult, magnitude, leastNormal), subnormal, normal);
  result =
      select(compare(arith::CmpIPredicate::ugt, result, format.largest), format.infinity.value_or(format.nan), result);
  result = select(compare(arith::CmpIPredicate::ugt, magnitude, infinity()), format.nan, result);
  Value sign = with<arith::ShLIOp>(with<arith::ShRUIOp>(all, signBit()), format.width - 1);
  Value withSign = both<arith::OrIOp>(result, sign);
  if (!format.hasNegativeZero())
    withSign = select(compare(arith::CmpIPredicate::eq, result, 0), result, withSign);
  return arith::TruncIOp::create(b_, loc_, b_.getIntegerType(format.width), withSign);
}

IntegerType bitsOf(Type type) {
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
}

/// Whether the code generator widens it: what is in a body of linalg.generic, and is not known here.
bool isWidenedLater(arith::ExtFOp op) {
  return isWidenedInKernels(op.getIn().getType()) && isa_and_nonnull<linalg::GenericOp>(op->getParentOp()) &&
         !matchPattern(op.getIn(), m_Constant());
}

Value fromF32(OpBuilder &builder, Location loc, Value value, Type to) {
  const unsigned width = to.getIntOrFloatBitWidth();
  if (width < 32)
    return arith::TruncFOp::create(builder, loc, to, value);
  return width > 32 ? arith::ExtFOp::create(builder, loc, to, value).getResult() : value;
}

struct WidenSmall : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isSmallFloat(op.getIn().getType()) || isWidenedLater(op))
      return failure();
    const Location loc = op.getLoc();
    Value bits = arith::BitcastOp::create(rewriter, loc, bitsOf(op.getIn().getType()), op.getIn());
    Value value = widenSmallFloat(rewriter, loc, bits, op.getIn().getType());
    rewriter.replaceOp(op, fromF32(rewriter, loc, value, op.getType()));
    return success();
  }
};

/// Scales: e is 2^(e - 127), which is no normal f32 where e is 0, and 255 is NaN.
struct WidenScale : OpRewritePattern<arith::ExtFOp> {
  explicit WidenScale(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {} // over MLIR's own, of 0 for 0
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isScale(op.getIn().getType()))
      return failure();
    const Location loc = op.getLoc();
    const FloatType f32 = rewriter.getF32Type();
    Bits bits(rewriter, loc, f32);
    Value code = arith::BitcastOp::create(rewriter, loc, rewriter.getI8Type(), op.getIn());
    Value wide = arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), code);
    Value exponent = bits.with<arith::ShLIOp>(wide, 23);
    exponent = bits.select(bits.compare(arith::CmpIPredicate::eq, wide, 0), 0x00400000, exponent);
    exponent = bits.select(bits.compare(arith::CmpIPredicate::eq, wide, 255), 0x7FC00000, exponent);
    Value value = arith::BitcastOp::create(rewriter, loc, f32, exponent);
    rewriter.replaceOp(op, fromF32(rewriter, loc, value, op.getType()));
    return success();
  }
};

struct RoundSmall : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isSmallFloat(op.getType()))
      return failure();
    const Location loc = op.getLoc();
    auto from = cast<FloatType>(op.getIn().getType());
    Value value = op.getIn();
    if (from.getWidth() < 32)
      value = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(), value);
    else if (!from.isF32() && !from.isF64())
      return failure();
    Value bits = Bits(rewriter, loc, cast<FloatType>(value.getType())).round(value, Format(op.getType()));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

struct SmallConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto value = dyn_cast<FloatAttr>(op.getValue());
    // Bits that are read by no pattern of these would be folded to the constant again, without an end.
    const bool isRead = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<arith::ArithDialect, math::MathDialect>(user->getDialect());
    });
    if (!value || !isSmallFloat(op.getType()) || !isRead)
      return failure();
    Value bits = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getIntegerAttr(bitsOf(op.getType()), value.getValue().bitcastToAPInt()));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

struct SelectSmall : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    if (!isSmallFloat(op.getType()))
      return failure();
    auto bits = [&](Value value) -> Value {
      return arith::BitcastOp::create(rewriter, op.getLoc(), bitsOf(op.getType()), value);
    };
    Value chosen = arith::SelectOp::create(rewriter, op.getLoc(), op.getCondition(), bits(op.getTrueValue()),
                                           bits(op.getFalseValue()));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), chosen);
    return success();
  }
};

/// Every other operation of arith and math: as f32, then rounded.
struct ComputeWide : RewritePattern {
  explicit ComputeWide(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumRegions() != 0 ||
        isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp, arith::ScalingExtFOp,
            arith::ScalingTruncFOp>(op) ||
        (llvm::none_of(op->getOperandTypes(), isSmallFloat) && llvm::none_of(op->getResultTypes(), isSmallFloat)))
      return failure();
    const Location loc = op->getLoc();
    Type f32 = rewriter.getF32Type();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          isSmallFloat(operand.getType()) ? arith::ExtFOp::create(rewriter, loc, f32, operand).getResult() : operand);
    SmallVector<Type> types(
        llvm::map_range(op->getResultTypes(), [&](Type type) { return isSmallFloat(type) ? f32 : type; }));
    Operation *wide = rewriter.create(loc, op->getName().getIdentifier(), operands, types, op->getAttrs());
    SmallVector<Value> results;
    for (auto [result, type] : llvm::zip_equal(wide->getResults(), op->getResultTypes()))
      results.push_back(isSmallFloat(type) ? arith::TruncFOp::create(rewriter, loc, type, result).getResult() : result);
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

Value widenSmallFloat(OpBuilder &builder, Location loc, Value bits, Type type) {
  return Bits(builder, loc, builder.getF32Type()).widen(bits, Format(type));
}

void addSmallFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenSmall, WidenScale, RoundSmall, SmallConstant, SelectSmall, ComputeWide>(patterns.getContext());
  arith::BitcastOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}

} // namespace tenon::compiler::input
