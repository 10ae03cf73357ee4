// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/narrow_functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

struct Polynomial {
  float end;   // from there on the function is 1
  float shift; // k: tanh needs so many terms that those of t^2 alone would cancel each other
  ArrayRef<float> terms;
};

constexpr float kErfTerms[] = {1.128379225730896f,     -0.3759732246398926f,  0.11204186826944351f,
                               -0.025417126715183258f, 0.004100009333342314f, -0.00040632212767377496f,
                               1.8000760974246077e-05f};
constexpr float kTanhTerms[] = {0.40157631039619446f,     -0.030904626473784447f,   0.0035114274360239506f,
                                -0.00041440920904278755f, 9.52342088567093e-06f,    -2.4324065179825993e-06f,
                                4.193724180368008e-06f,   -1.6450441364668222e-07f, -1.3452253710966033e-07f,
                                -1.2927141579410772e-09f, 2.17786411127463e-09f};

Polynomial polynomialOf(math::ErfOp) {
  return {2.203125f, 0, kErfTerms};
}
Polynomial polynomialOf(math::TanhOp) {
  return {3.46875f, 6.01611328125f, kTanhTerms};
}

/// In f32, of a bf16.
Value valueAt(OpBuilder &b, Location loc, Value x, const Polynomial &polynomial) {
  auto number = [&](Type type, float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  };
  // A NaN stays one.
  Value below = arith::MinimumFOp::create(b, loc, x, number(x.getType(), polynomial.end));
  Value inside = arith::MaximumFOp::create(b, loc, below, number(x.getType(), -polynomial.end));
  Type f32 = b.getF32Type();
  Value t = arith::ExtFOp::create(b, loc, f32, inside);
  Value square = polynomial.shift == 0 ? Value(arith::MulFOp::create(b, loc, t, t))
                                       : Value(math::FmaOp::create(b, loc, t, t, number(f32, -polynomial.shift)));
  Value sum = number(f32, polynomial.terms.back());
  for (float term : llvm::reverse(polynomial.terms.drop_back()))
    sum = math::FmaOp::create(b, loc, sum, square, number(f32, term));
  return arith::MulFOp::create(b, loc, t, sum);
}

bool isRoundedAlone(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<arith::TruncFOp>(user) && user->getResult(0).getType().isBF16();
  });
}

/// The bf16 that an f32 is, or null.
Value narrowOf(Value wide) {
  auto widened = wide.getDefiningOp<arith::ExtFOp>();
  return widened && widened.getIn().getType().isBF16() ? widened.getIn() : Value();
}

template <typename Function> struct Narrow : OpRewritePattern<Function> {
  using OpRewritePattern<Function>::OpRewritePattern;
  LogicalResult matchAndRewrite(Function op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    if (op.getType().isBF16()) {
      Value value = valueAt(rewriter, loc, op.getOperand(), polynomialOf(op));
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
      return success();
    }
    Value x = narrowOf(op.getOperand());
    if (!op.getType().isF32() || !x || !isRoundedAlone(op))
      return failure();
    rewriter.replaceOp(op, valueAt(rewriter, loc, x, polynomialOf(op)));
    return success();
  }
};

struct NarrowDivision : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    const bool isNarrow = op.getType().isBF16();
    if (arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure(); // what --fast-math allows takes less (rewrites/fast_math.h)
    auto isOne = [](Value value) { return matchPattern(value, m_OneFloat()); };
    if (!isNarrow && !(op.getType().isF32() && (narrowOf(op.getLhs()) || isOne(op.getLhs())) && narrowOf(op.getRhs()) &&
                       isRoundedAlone(op)))
      return failure();
    Type f32 = rewriter.getF32Type();
    auto wide = [&](Value value) { return isNarrow ? arith::ExtFOp::create(rewriter, loc, f32, value) : value; };
    Value quotient = LLVM::InlineAsmOp::create(
                         rewriter, loc, TypeRange(f32), ValueRange{wide(op.getLhs()), wide(op.getRhs())},
                         "div.full.f32 $0, $1, $2;", "=f,f,f", /*has_side_effects=*/false,
                         /*is_align_stack=*/false, LLVM::TailCallKind::None,
                         LLVM::AsmDialectAttr::get(rewriter.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
                         .getResult(0);
    if (isNarrow)
      quotient = arith::TruncFOp::create(rewriter, loc, op.getType(), quotient);
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

} // namespace

void addNarrowDivisions(RewritePatternSet &patterns) {
  patterns.add<NarrowDivision>(patterns.getContext());
}

void addNarrowFunctions(RewritePatternSet &patterns) {
  patterns.add<Narrow<math::ErfOp>, Narrow<math::TanhOp>>(patterns.getContext());
}

} // namespace tenon::compiler::codegen
