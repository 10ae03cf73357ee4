// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/lower_to_llvm.h"

#include "compiler/codegen/ptx/clamps.h"
#include "compiler/codegen/ptx/narrow_functions.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// One operation of `math` to the intrinsic that computes it exactly.
template <typename Source, typename Target> struct ToIntrinsic : OpConversionPattern<Source> {
  using OpConversionPattern<Source>::OpConversionPattern;
  LogicalResult matchAndRewrite(Source op, typename Source::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<Target>(op, op.getType(), adaptor.getOperands());
    return success();
  }
};

/// One of the predicates of `math` to a test of the value's class (llvm::FPClassTest bits).
template <typename Source, unsigned classes> struct ToClassTest : OpConversionPattern<Source> {
  using OpConversionPattern<Source>::OpConversionPattern;
  LogicalResult matchAndRewrite(Source op, typename Source::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::IsFPClass>(op, op.getType(), adaptor.getOperand(), classes);
    return success();
  }
};

/// Of f32 the hardware's estimate, to 22.9 bits, and a step of Newton's: nearer than two operations that are each
/// correctly rounded, in 6 instructions instead of 40, and without the calls for numbers at the ends of their range,
/// across which registers have to be kept. Of 0, infinities and NaN there is no step. Else 1 / sqrt(x).
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (type.isF32()) {
      const Location loc = op.getLoc();
      auto number = [&](float value) -> Value {
        return arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(value));
      };
      Value x = op.getOperand();
      Value y = LLVM::CallIntrinsicOp::create(rewriter, loc, type, rewriter.getStringAttr("llvm.nvvm.rsqrt.approx.f"),
                                              ValueRange(x))
                    .getResult(0);
      if (arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn)) {
        rewriter.replaceOp(op, y);
        return success();
      }
      // (1 - x y y) / 2 is what y is off by, as a part of y.
      Value minus = arith::NegFOp::create(rewriter, loc, arith::MulFOp::create(rewriter, loc, x, y));
      Value error = math::FmaOp::create(rewriter, loc, minus, y, number(1));
      Value half = arith::MulFOp::create(rewriter, loc, y, number(0.5));
      Value better = math::FmaOp::create(rewriter, loc, half, error, y);
      Value isNumber = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ORD, error, error);
      rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNumber, better, y);
      return success();
    }
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(), type, rewriter.getFloatAttr(type, 1.0));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

/// An exponential that may be approximate is a power of two.
struct ExpandApproximateExponential : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    Value factor =
        arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getF32FloatAttr(float(llvm::numbers::log2e)));
    Value exponent = arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), factor);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, exponent, op.getFastmath());
    return success();
  }
};

void addExactIntrinsics(const LLVMTypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ToIntrinsic<math::AbsFOp, LLVM::FAbsOp>, ToIntrinsic<math::CeilOp, LLVM::FCeilOp>,
               ToIntrinsic<math::CopySignOp, LLVM::CopySignOp>, ToIntrinsic<math::FloorOp, LLVM::FFloorOp>,
               ToIntrinsic<math::FmaOp, LLVM::FMAOp>, ToIntrinsic<math::RoundOp, LLVM::RoundOp>,
               ToIntrinsic<math::RoundEvenOp, LLVM::RoundEvenOp>, ToIntrinsic<math::SqrtOp, LLVM::SqrtOp>,
               ToIntrinsic<math::TruncOp, LLVM::FTruncOp>, ToClassTest<math::IsFiniteOp, llvm::fcFinite>,
               ToClassTest<math::IsInfOp, llvm::fcInf>, ToClassTest<math::IsNaNOp, llvm::fcNan>,
               ToClassTest<math::IsNormalOp, llvm::fcNormal>>(types, patterns.getContext(), PatternBenefit(10));
}

/// A power of two that may be approximate is one instruction.
struct ApproximatePower : OpConversionPattern<math::Exp2Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    if (!op.getType().isF32() || !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    b.replaceOpWithNewOp<LLVM::InlineAsmOp>(op, TypeRange(op.getType()), adaptor.getOperand(),
                                            "ex2.approx.ftz.f32 $0, $1;", "=f,f", /*has_side_effects=*/false,
                                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                            LLVM::AsmDialectAttr::get(op.getContext(), LLVM::AsmDialect::AD_ATT),
                                            ArrayAttr());
    return success();
  }
};

/// No pattern here gives up halfway, so nothing has to be kept for taking changes back: that is half the time.
ConversionConfig withoutRollback() {
  ConversionConfig config;
  config.allowPatternRollback = false;
  return config;
}

/// Structured loops and branches to blocks.
LogicalResult lowerLoops(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns), withoutRollback());
}

// Each round folds what the last one made constant: sums of constants take as many rounds as they have levels.
constexpr int64_t kMostRounds = 1000;

/// Whatever is left when it gives up is lowered as it is.
void expand(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<ExpandRsqrt, ExpandApproximateExponential>(module.getContext());
  addClamps(patterns);
  addNarrowFunctions(patterns);
  addNarrowDivisions(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setMaxIterations(kMostRounds);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}

} // namespace

LogicalResult lowerToLlvm(ModuleOp module) {
  expand(module);
  MLIRContext *context = module.getContext();
  if (failed(lowerLoops(module)))
    return failure();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  addExactIntrinsics(types, patterns);
  patterns.add<ApproximatePower>(types, context, PatternBenefit(10));
  populateLibDeviceConversionPatterns(types, patterns, PatternBenefit(5));
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect>();
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  if (failed(applyPartialConversion(module, target, std::move(patterns), withoutRollback())))
    return failure();

  SmallVector<UnrealizedConversionCastOp> casts, remaining;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts, &remaining);
  for (UnrealizedConversionCastOp cast : remaining)
    if (!cast->use_empty())
      return cast.emitError() << "no kernel can be generated: a value of type " << cast.getInputs()[0].getType()
                              << " is not supported";
  return success();
}

} // namespace tenon::compiler::codegen
