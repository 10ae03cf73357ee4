// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lower-math (Passes.td). A power with an integer exponent is taken by squaring: x^13 is x^8 * x^4 * x. The bits
// of the exponent choose the factors, all of them, since a kernel's body has no loops.
#include "compiler/input/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_LOWERMATH
#include "compiler/input/Passes.h.inc"

namespace {

/// A scalar, or a tensor of known shape all of whose elements are it; null for other types.
Value constantOf(OpBuilder &b, Location loc, Type type, TypedAttr scalar) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return arith::ConstantOp::create(b, loc, scalar);
  if (!tensor.hasStaticShape())
    return {};
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, Attribute(scalar)));
}

struct Power {
  OpBuilder &b;
  Location loc;

  Value integer(Type type, int64_t value) {
    return constantOf(b, loc, type, b.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value oneBit(Type type, unsigned bit) {
    Type element = getElementTypeOrSelf(type);
    return constantOf(b, loc, type,
                      b.getIntegerAttr(element, APInt::getOneBitSet(element.getIntOrFloatBitWidth(), bit)));
  }
  Value isZero(Value x, arith::CmpIPredicate predicate) {
    return arith::CmpIOp::create(b, loc, predicate, x, integer(x.getType(), 0));
  }

  /// base^exponent by `bits` bits of the exponent, `one` to start from.
  template <typename Multiply> Value bySquaring(Value base, Value exponent, unsigned bits, Value one) {
    Value result = one;
    for (unsigned bit = 0; bit < bits; ++bit) {
      Value masked = arith::AndIOp::create(b, loc, exponent, oneBit(exponent.getType(), bit));
      Value longer = Multiply::create(b, loc, result, base);
      result = arith::SelectOp::create(b, loc, isZero(masked, arith::CmpIPredicate::eq), result, longer);
      if (bit + 1 < bits)
        base = Multiply::create(b, loc, base, base);
    }
    return result;
  }
};

bool hasKnownShape(Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return !isa<ShapedType>(op->getResult(0).getType()) || (tensor && tensor.hasStaticShape());
}

/// Tensors of unknown shape become linalg.generic first: a constant has no size that only the host knows.
struct PowersToLinalg : RewritePattern {
  explicit PowersToLinalg(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto type = isa<math::FPowIOp, math::IPowIOp>(op) ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                                      : RankedTensorType();
    if (!type || type.hasStaticShape())
      return failure();
    const unsigned rank = type.getRank();
    SmallVector<AffineMap> maps(3, rewriter.getMultiDimIdentityMap(rank));
    auto generic = linalg::GenericOp::create(
        rewriter, op->getLoc(), TypeRange(type), op->getOperands(), ValueRange(op->getOperand(0)), maps,
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          Operation *scalar = b.create(loc, op->getName().getIdentifier(), arguments.take_front(2),
                                       {type.getElementType()}, op->getAttrs());
          linalg::YieldOp::create(b, loc, scalar->getResult(0));
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// A negative exponent asks for 1 / x^n, which as an integer is 0 but for 1 and -1.
struct LowerIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    if (!hasKnownShape(op))
      return failure();
    const Location loc = op.getLoc();
    Power power{rewriter, loc};
    Type type = op.getType();
    Value base = op.getLhs(), exponent = op.getRhs();
    const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Value zero = power.integer(type, 0), one = power.integer(type, 1), minusOne = power.integer(type, -1);
    Value positive = power.bySquaring<arith::MulIOp>(base, exponent, width - 1, one);
    auto equals = [&](Value x, Value y) -> Value {
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, x, y);
    };
    Value isOdd = equals(arith::AndIOp::create(rewriter, loc, exponent, one), one);
    Value ofMinusOne = arith::SelectOp::create(rewriter, loc, isOdd, minusOne, one);
    Value other = arith::SelectOp::create(rewriter, loc, equals(base, minusOne), ofMinusOne, zero);
    Value inverse = arith::SelectOp::create(rewriter, loc, equals(base, one), one, other);
    Value isNegative = power.isZero(exponent, arith::CmpIPredicate::slt);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNegative, inverse, positive);
    return success();
  }
};

/// Products of f16 and bf16 are rounded once, at the end.
struct LowerFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    if (!hasKnownShape(op))
      return failure();
    const Location loc = op.getLoc();
    Power power{rewriter, loc};
    Value base = op.getLhs(), exponent = op.getRhs();
    const bool isNarrow = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() < 32;
    Type type = op.getType();
    if (isNarrow) {
      Type f32 = rewriter.getF32Type();
      type = isa<ShapedType>(type) ? Type(cast<ShapedType>(type).clone(f32)) : f32;
      base = arith::ExtFOp::create(rewriter, loc, type, base);
    }
    Value one = constantOf(rewriter, loc, type, rewriter.getFloatAttr(getElementTypeOrSelf(type), 1.0));
    Value isNegative = power.isZero(exponent, arith::CmpIPredicate::slt);
    Value negated = arith::SubIOp::create(rewriter, loc, power.integer(exponent.getType(), 0), exponent);
    // Of the least integer, too, whose bits stay the same: they count its magnitude without a sign.
    Value magnitude = arith::SelectOp::create(rewriter, loc, isNegative, negated, exponent);
    const unsigned width = getElementTypeOrSelf(exponent.getType()).getIntOrFloatBitWidth();
    Value positive = power.bySquaring<arith::MulFOp>(base, magnitude, width, one);
    Value inverse = arith::DivFOp::create(rewriter, loc, one, positive);
    Value result = arith::SelectOp::create(rewriter, loc, isNegative, inverse, positive);
    if (isNarrow)
      result = arith::TruncFOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The value, but no less than min and no more than max, as SPIR-V's conversion has it. MLIR's own expansion of LLVM 22
/// follows a slip in the operation's description, maxf(minf(value, min), max).
struct LowerClampF : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &rewriter) const override {
    Value above = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMin(), op.getFastmathAttr());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, above, op.getMax(), op.getFastmathAttr());
    return success();
  }
};

struct LowerSinCos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SincosOp op, PatternRewriter &rewriter) const override {
    Value sine = math::SinOp::create(rewriter, op.getLoc(), op.getOperand(), op.getFastmath());
    Value cosine = math::CosOp::create(rewriter, op.getLoc(), op.getOperand(), op.getFastmath());
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

/// No kernel rounds otherwise than to the nearest number, and of two to the even one.
LogicalResult refuseRoundings(ModuleOp module) {
  const WalkResult walked = module.walk([](arith::ArithRoundingModeInterface op) {
    const arith::RoundingModeAttr mode = op.getRoundingModeAttr();
    if (!mode || mode.getValue() == arith::RoundingMode::to_nearest_even)
      return WalkResult::advance();
    op->emitError() << "'" << op->getName() << "' rounds '" << arith::stringifyRoundingMode(mode.getValue())
                    << "', which is not supported; supported is 'to_nearest_even', the default";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

struct LowerMath : impl::LowerMathBase<LowerMath> {
  void runOnOperation() override {
    if (failed(refuseRoundings(getOperation())))
      return signalPassFailure();
    auto isWork = [](Operation *op) {
      return isa<math::ClampFOp, math::FPowIOp, math::IPowIOp, math::SincosOp>(op) ? WalkResult::interrupt()
                                                                                   : WalkResult::advance();
    };
    if (!getOperation().walk(isWork).wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<PowersToLinalg, LowerClampF, LowerIPowI, LowerFPowI, LowerSinCos>(&getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns)); // what is left is refused by name, later
  }
};

} // namespace

} // namespace tenon::compiler::input
